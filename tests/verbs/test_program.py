"""Programs of the tile language, asked through the verbs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pantile.errors import PantileError
from pantile.language import Program
from pantile.program.language.load import load_program
from pantile.verbs.program import check_program, execute_program, simulate_program

PING_PONG = Path(__file__).parents[2] / "examples" / "tile_language" / "03_pingpong.py"
MACHINE = """
name = "one-core"

[clock]
core = "1 GHz"

[[memory]]
name = "ddr"
scope = "chip"
granule_bytes = 64

[[memory]]
name = "sram"
scope = "core"
capacity_bytes = "{sram}"
slots = 1
granule_bytes = 64

[grid]
shape = [1, 2]
"""


@pytest.fixture
def ping_pong() -> Program:
    program = load_program(PING_PONG)
    assert isinstance(program, Program)
    return program


def test_ping_pong_is_proved_right_and_computes_the_product(ping_pong: Program) -> None:
    report = check_program(ping_pong)
    assert report.ok
    assert not report.findings
    assert "coverage: 131072 MACs, each computed exactly once" in report.proved  # 32 x 32 x 128
    random = np.random.default_rng(1)
    x, w = random.random((32, 128), np.float32), random.random((32, 128), np.float32)
    product = execute_program(ping_pong, {"x": x, "w": w})
    assert np.allclose(product, x @ w.T, rtol=1e-4)
    assert np.array_equal(ping_pong.execute(x=x, w=w), product)


def test_what_the_machine_lacks_is_one_line_each(ping_pong: Program, tmp_path: Path) -> None:
    path = tmp_path / "one-core.toml"
    path.write_text(MACHINE.format(sram="1 MiB"))
    with pytest.raises(PantileError) as caught:
        simulate_program(ping_pong, path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 4  # two paths, a memory and an engine
    assert all(line.endswith("[PT-PROGRAM]") and "03_pingpong.py:" in line for line in lines)
    assert any("has no memory 'compute'; allowed here: ddr, sram" in line for line in lines)
