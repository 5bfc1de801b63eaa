"""The verb ``execute``: values and files of programs, on real arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pantile
from pantile.errors import UsageError
from pantile.language import Program
from pantile.program.language.load import load_program

EXAMPLES = Path(__file__).parents[2] / "examples" / "tile_language"


@pytest.mark.parametrize("name", ["01_nest.py", "03_pingpong.py", "03_pingpong.py:program"])
def test_a_file_computes_numpys_product(name: str) -> None:
    random = np.random.default_rng(2)
    x, w = random.random((32, 128), np.float32), random.random((32, 128), np.float32)
    product = pantile.execute(EXAMPLES / name, x=x, w=w)
    assert isinstance(product, np.ndarray)
    assert np.allclose(product, x @ w.T, rtol=1e-4)


def test_a_value_gives_what_its_file_gives() -> None:
    program = load_program(EXAMPLES / "03_pingpong.py")
    assert isinstance(program, Program)
    ones = np.ones((32, 128), np.float32)
    by_file = pantile.execute(str(EXAMPLES / "03_pingpong.py"), x=ones, w=ones)
    assert np.array_equal(pantile.execute(program, X=ones, W=ones), by_file)
    assert np.array_equal(program.execute(x=ones, w=ones), np.full((32, 32), 128))


def test_what_is_no_program_and_arrays_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match=r"^gemm:m=8,n=8,k=8: expected a program: a value, FILE\.py"):
        pantile.execute("gemm:m=8,n=8,k=8", x=1)
    with pytest.raises(UsageError, match="no array for W"):
        pantile.execute(EXAMPLES / "01_nest.py", x=np.ones((32, 128)))


def test_a_program_that_asks_is_carried_out_as_it_runs(tmp_path: Path) -> None:
    text = (EXAMPLES / "03_pingpong.py").read_text()
    asking = text.replace(
        "            buf.acquire()\n", "            assert not buf.empty or True\n            buf.acquire()\n"
    )
    (tmp_path / "asks.py").write_text(asking.replace("multiply, name=", "multiply, dynamic=True, name="))
    random = np.random.default_rng(3)
    x, w = random.random((32, 128), np.float32), random.random((32, 128), np.float32)
    product = pantile.execute(tmp_path / "asks.py", x=x, w=w)
    assert isinstance(product, np.ndarray)
    assert np.allclose(product, x @ w.T, rtol=1e-4)
