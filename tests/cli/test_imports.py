"""Starting up is cheap: nothing heavy is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # every test starts an interpreter

HEAVY = {"numba", "onnx", "pydantic", "numpy", "rich", "perfetto", "llvmlite"}


def loaded(code: str, folder: Path) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after *code*."""
    script = f"import sys\n{code}\nprint(*(name for name in sys.modules if '.' not in name))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder, timeout=60
    )
    return set(done.stdout.splitlines()[-1].split())


def command(*arguments: str) -> str:
    return f"from pantile.cli.main import main\nassert main({list(arguments)!r}) == 0"


@pytest.mark.parametrize("code", ["import pantile", command("--help")], ids=["import", "help"])
def test_importing_and_help_load_nothing_heavy(code: str, tmp_path: Path) -> None:
    assert not HEAVY & loaded(code, tmp_path)


@pytest.mark.parametrize("arguments", [("simulate", "--help"), ("machines", "list")], ids=" ".join)
def test_help_of_a_command_and_the_list_of_machines_load_no_array_library(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    assert HEAVY & loaded(command(*arguments), tmp_path) <= {"pydantic"}  # Typer checks arguments with it


@pytest.mark.parametrize("verb", ["plan", "lower", "check", "simulate"])
def test_small_work_on_a_text_loads_neither_numba_nor_onnx(verb: str, tmp_path: Path) -> None:
    modules = loaded(command(verb, "gemm:m=8,n=8,k=8", "-m", "systolic-ws-8x8"), tmp_path)
    assert not {"numba", "onnx", "perfetto"} & modules


def test_an_onnx_file_does_not_load_numba(tmp_path: Path, mlp: str) -> None:
    assert "numba" not in loaded(command("simulate", mlp, "-m", "systolic-ws-8x8"), tmp_path)


def test_verbs_keep_their_names_when_packages_of_the_same_name_are_loaded(tmp_path: Path) -> None:
    loaded(
        "import pantile, pantile.check.report, pantile.view.render, pantile.conform.run, pantile.simulate\n"
        "for name in ('plan', 'lower', 'check', 'simulate', 'view', 'conform'):\n"
        "    assert callable(getattr(pantile, name)), name\n"
        "assert set(pantile.__all__) <= set(dir(pantile)) | set(pantile.__all__)\n"
        "assert all(hasattr(pantile, name) for name in pantile.__all__)",
        tmp_path,
    )


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    import pantile

    with pytest.raises(AttributeError, match="module 'pantile' has no attribute 'frobnicate'"):
        _ = pantile.frobnicate
