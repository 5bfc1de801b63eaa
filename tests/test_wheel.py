"""The built wheel, in an environment that holds nothing but its declared requirements."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IMPORT_ALL = """
import importlib, pkgutil, pantile
names = [module.name for module in pkgutil.walk_packages(pantile.__path__, "pantile.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_wheel_imports_every_module_and_runs_the_main_job(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    python = tmp_path / "empty" / "bin" / "python"
    # What the wheel itself declares, nothing else: a requirement that is missing there is missed here.
    pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    run(*pip, "--constraint", _constraints(tmp_path), wheel, cwd=tmp_path)
    assert int(run(python, "-c", IMPORT_ALL, cwd=tmp_path)) > 100
    command = tmp_path / "empty" / "bin" / "pantile"
    result = json.loads(
        run(command, "simulate", "gemm:m=32,n=32,k=64", "-m", "systolic-ws-8x8", "--json", cwd=tmp_path)
    )
    assert result["total_cycles"] == 1249


def _constraints(folder: Path) -> Path:
    """The locked versions without their hashes, as constraints."""
    lines = (ROOT / "requirements" / "run.txt").read_text().splitlines()
    pins = [line.rstrip(" \\") for line in lines if "==" in line]
    path = folder / "constraints.txt"
    path.write_text("\n".join(pins) + "\n")
    return path
