"""The recorded synchronisation cases as programs: ``pantile check examples/ascend/recorded.py:NAME``."""

import json
from pathlib import Path

from pantile.ascend import Program

CASES = Path(__file__).resolve().parents[2] / "tests/golden/sync_cases"

for path in sorted(CASES.glob("*.json")):
    recorded = json.loads(path.read_text(encoding="utf-8"))
    globals()[recorded["id"]] = Program.from_instructions(recorded["trace"], recorded["id"])
