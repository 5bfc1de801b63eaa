"""Runs that pages and traces can show."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.errors import OutsideModelError
from pantile.machine import load_machine
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.sessions import planned
from pantile.verbs.shown_run import require_timelines


def test_a_run_with_timelines_is_shown_whatever_its_family_and_any_other_is_not() -> None:
    (session,) = planned("gemm:m=4,n=4,k=4", load_machine("mesh-2x2"), PlanOptions(), complete=True)
    run: Any = session.simulation(lambda: None)
    assert require_timelines(session, run, "pages show") is run
    with pytest.raises(OutsideModelError, match="pages show runs of programs, what 'mesh-2x2' runs is none"):
        require_timelines(session, object(), "pages show")
