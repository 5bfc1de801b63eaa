"""The states of a copy, row by row of the table in tile-language.md section 6."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from pantile.errors import ManyProblems, ProgramError, UsageError
from pantile.language import (
    DDR,
    SRAM,
    Any,
    Compute,
    Core,
    Program,
    Tile,
    compute,
    destory,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)


@pytest.fixture(scope="module")
def tile(kit: SimpleNamespace) -> Tile:
    return Tile(kit.tiling(), (0, 0, 1), location=kit.CORE)


COPY = "of D(0,0,1) at sram@(0,1)"


def test_start_writing_takes_what_is_unborn(kit: SimpleNamespace, tile: Tile) -> None:
    program = kit.one_thread(partial(start_writing, tile))
    assert kit.waits(program, 0) == [f"before_start: take 1 unborn {COPY}"]


def test_finish_writing_publishes(kit: SimpleNamespace, tile: Tile) -> None:
    program = kit.one_thread(partial(start_writing, tile), partial(finish_writing, tile))
    assert kit.waits(program, 1) == [
        f"after_finish: post -1 busy {COPY}",
        f"after_finish: post 1 ready {COPY}",
    ]


def test_start_reading_waits_until_ready_and_joins(kit: SimpleNamespace, tile: Tile) -> None:
    program = kit.one_thread(partial(start_writing, tile), partial(start_reading, tile))
    assert kit.waits(program, 1) == [
        f"before_start: reach 1 ready {COPY} group 0",
        f"before_start: zero 0 busy {COPY} group 0",
        f"before_start: post 1 readers {COPY}",
    ]


def test_finish_reading_leaves(kit: SimpleNamespace, tile: Tile) -> None:
    steps = (partial(start_writing, tile), partial(start_reading, tile), partial(finish_reading, tile))
    assert kit.waits(kit.one_thread(*steps), 2) == [f"after_finish: post -1 readers {COPY}"]


@pytest.mark.parametrize("statement", [destroy, destory])
def test_destroy_waits_for_readers_and_unbears(kit: SimpleNamespace, tile: Tile, statement: object) -> None:
    program = kit.one_thread(partial(start_writing, tile), partial(statement, tile))  # type: ignore[arg-type]
    assert kit.opcodes(program)[1] == "destroy"
    assert kit.waits(program, 1) == [
        f"before_start: reach 1 ready {COPY} group 0",
        f"before_start: zero 0 busy {COPY} group 0",
        f"before_start: zero 0 readers {COPY} group 0",
        f"before_start: post 1 busy {COPY}",
        f"before_start: post 1 unborn {COPY}",
    ]


def test_an_update_waits_until_ready_and_unread(kit: SimpleNamespace, tile: Tile) -> None:
    program = kit.one_thread(partial(start_writing, tile), partial(start_writing, tile, update=True))
    assert kit.waits(program, 1) == [
        f"before_start: reach 1 ready {COPY} group 0",
        f"before_start: zero 0 busy {COPY} group 0",
        f"before_start: zero 0 readers {COPY} group 0",
        f"before_start: post 1 busy {COPY}",
    ]
    shown = program.tables()["sync"]["shown_as"]
    assert [program.text(each) for each in shown] == ["start_writing"] + ["start_writing(update)"] * 4


def test_a_copy_starts_unborn_and_busy(kit: SimpleNamespace, tile: Tile) -> None:
    program = kit.one_thread(partial(start_writing, tile))
    counters = program.tables()["counter"]
    assert [(program.text(row["src"]), int(row["initial"])) for row in counters] == [
        ("unborn", 1),
        ("busy", 1),
        ("ready", 0),
        ("readers", 0),
    ]


def test_after_a_destroy_the_thread_waits_for_the_next_generation(kit: SimpleNamespace, tile: Tile) -> None:
    write = (partial(start_writing, tile), partial(finish_writing, tile))
    read = (partial(start_reading, tile), partial(finish_reading, tile), partial(destroy, tile))
    program = kit.one_thread(*write, *read, *write, *read)
    assert [kit.waits(program, op)[0] for op in (2, 4, 7, 9)] == [
        f"before_start: reach {generation} ready {COPY} group 0" for generation in (1, 1, 2, 2)
    ]


def test_two_readers_of_one_copy_share_its_counters(kit: SimpleNamespace, tile: Tile) -> None:
    @thread
    def writes() -> None:
        start_writing(tile)
        finish_writing(tile)

    @thread
    def reads() -> None:
        start_reading(tile)
        finish_reading(tile)

    @thread
    def reads_too() -> None:
        start_reading(tile)
        finish_reading(tile)

    program = Program(kit.tiling(), writes, reads, reads_too)
    assert kit.waits(program, 2) == kit.waits(program, 4)
    assert len(program.tables()["counter"]) == 4
    kit.order_of(program)


# -- which copy a statement means (section 3)


def test_a_core_and_its_sram_are_one_location(kit: SimpleNamespace) -> None:
    at_core, at_sram = (Tile(kit.tiling(), (0, 0, 0), location=each) for each in (kit.CORE, SRAM(kit.CORE)))
    program = kit.one_thread(partial(start_writing, at_core), partial(finish_writing, at_sram))
    assert len(program.tables()["counter"]) == 4


def test_locations_are_copies_of_their_own(kit: SimpleNamespace) -> None:
    tiles = [Tile(kit.tiling(), (0, 0, 0), location=Core(0, column)) for column in (0, 1)]
    program = kit.one_thread(*(partial(start_writing, tile) for tile in tiles))
    assert len(program.tables()["counter"]) == 8


def test_operand_tiles_that_two_tiles_share_are_one_copy(kit: SimpleNamespace) -> None:
    one, other = (Tile(kit.tiling(), (0, o, 1), location=kit.CORE) for o in (0, 1))
    program = kit.one_thread(partial(start_writing, one.X), partial(finish_writing, other.X))
    assert kit.waits(program, 1)[0] == "after_finish: post -1 busy of X D(0,1) at sram@(0,1)"
    with pytest.raises(ProgramError, match=r"finish_writing of W D\(1,1\) at sram@\(0,1\), where no copy"):
        kit.one_thread(partial(start_writing, one.W), partial(finish_writing, other.W))


def test_a_child_refers_to_the_nearest_tile_around_it_that_has_a_state(kit: SimpleNamespace) -> None:
    tiling = kit.tiling(D=(1, 1, 2), T=(2, 2, 1), S=(2, 2, 4))
    whole = Tile(tiling, (), location=kit.CORE)
    tile = Tile(tiling, (0, 0, 1), location=kit.CORE)
    child = tile.child((1, 0, 0))

    @thread
    def reads() -> None:
        start_writing(whole)
        start_writing(tile)
        start_reading(child)

    program = Program(tiling, reads)
    assert kit.waits(program, 2)[0] == f"before_start: reach 1 ready {COPY} group 0"


def test_a_bundle_without_a_state_means_the_copies_of_all_its_inputs(
    kit: SimpleNamespace, tile: Tile
) -> None:
    program = kit.one_thread(
        partial(start_writing, tile.X), partial(start_writing, tile.W), partial(start_reading, tile)
    )
    assert kit.waits(program, 2) == [
        "before_start: reach 1 ready of X D(0,1) at sram@(0,1) group 0",
        "before_start: reach 1 ready of W D(0,1) at sram@(0,1) group 0",
        "before_start: zero 0 busy of X D(0,1) at sram@(0,1) group 0",
        "before_start: zero 0 busy of W D(0,1) at sram@(0,1) group 0",
        "before_start: post 1 readers of X D(0,1) at sram@(0,1)",
        "before_start: post 1 readers of W D(0,1) at sram@(0,1)",
    ]


def test_an_operand_of_the_only_bundle_around_it_means_the_bundle(kit: SimpleNamespace, tile: Tile) -> None:
    program = kit.one_thread(partial(start_writing, tile), partial(start_reading, tile.X))
    assert kit.waits(program, 1)[0] == f"before_start: reach 1 ready {COPY} group 0"


def test_an_operand_of_several_bundles_does_not_say_which(kit: SimpleNamespace) -> None:
    one, other = (Tile(kit.tiling(), (0, o, 1), location=kit.CORE) for o in (0, 1))
    steps = (partial(start_writing, one), partial(start_writing, other), partial(start_reading, one.X))
    with pytest.raises(ProgramError, match=r"start_reading of X D\(0,1\) .* which lies in several bundles"):
        kit.one_thread(*steps)


def test_the_output_is_never_in_a_bundle(kit: SimpleNamespace, tile: Tile) -> None:
    steps = (partial(start_writing, tile), partial(finish_writing, tile))
    with pytest.raises(ProgramError, match=r"start_reading of Y D\(0,0\) at sram@\(0,1\), where no copy"):
        kit.one_thread(*steps, partial(start_reading, tile.Y))
    program = kit.one_thread(*steps, partial(destroy, tile))
    assert not any(" Y " in wait for op in range(3) for wait in kit.waits(program, op))


# -- misuse


@pytest.mark.parametrize("finish", [finish_writing, finish_reading])
def test_a_finish_without_its_start_is_an_error(kit: SimpleNamespace, tile: Tile, finish: object) -> None:
    start = "start_writing" if finish is finish_writing else "start_reading"
    steps = (partial(start_writing, tile), partial(finish_writing, tile), partial(finish, tile))  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=rf"finish_\w+ of D\(0,0,1\) .* without a {start} of this thread"):
        kit.one_thread(*steps)


def test_a_finish_by_another_thread_is_an_error_that_names_both_lines(
    kit: SimpleNamespace, tile: Tile
) -> None:
    @thread
    def begins() -> None:
        start_writing(tile)

    @thread
    def ends() -> None:
        finish_writing(tile)

    pattern = (
        rf":{ends.place.line + 2}: finish_writing .*starts it, at .*test_states.py:{begins.place.line + 2};"
    )
    with pytest.raises(ProgramError, match=pattern):
        Program(kit.tiling(), begins, ends)


def test_every_misuse_is_reported_at_once_and_none_hides_another(kit: SimpleNamespace, tile: Tile) -> None:
    steps = [partial(finish_writing, tile), partial(start_writing, tile), partial(finish_writing, tile)]
    steps += [partial(finish_reading, tile)]
    with pytest.raises(ManyProblems) as caught:
        kit.one_thread(*steps)
    assert [problem.problem.split(" of ")[0] for problem in caught.value.problems] == [
        "finish_writing",
        "finish_reading",
    ]


def test_misuses_can_be_kept_as_material_for_findings(kit: SimpleNamespace, tile: Tile) -> None:
    steps = (partial(start_writing, tile), partial(finish_reading, tile))
    program = kit.one_thread(*steps, keep_faults=True)
    (fault,) = program.parameters["faults"]
    assert fault["op"] == 1
    assert fault["sentence"].startswith("finish_reading of D(0,0,1) at sram@(0,1) without a start_reading")
    assert fault["place"].startswith(f"{__file__.rpartition('/')[0]}/conftest.py:")


def test_an_unborn_copy_is_an_error(kit: SimpleNamespace, tile: Tile) -> None:
    with pytest.raises(
        ProgramError, match=r"start_reading of D\(0,0,1\) at sram@\(0,1\), where no copy of it"
    ):
        kit.one_thread(partial(start_reading, tile))


@pytest.mark.parametrize("statement", [start_writing, finish_writing, start_reading, finish_reading, destroy])
def test_a_state_needs_a_location(kit: SimpleNamespace, statement: object) -> None:
    bare = Tile(kit.tiling(), (0, 0, 0))
    with pytest.raises(ProgramError, match=r"of D\(0,0,0\), a tile without a location; write Tile\("):
        kit.one_thread(partial(statement, bare))  # type: ignore[arg-type]


@pytest.mark.parametrize("statement", [start_writing, finish_writing, destroy])
def test_writing_to_any_is_an_error(kit: SimpleNamespace, statement: object) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=Any)
    with pytest.raises(ProgramError, match="at Any: which copy would change is not said; name the place"):
        kit.one_thread(partial(statement, tile))  # type: ignore[arg-type]


def test_moving_to_any_and_computing_at_any_are_errors(kit: SimpleNamespace, tile: Tile) -> None:
    with pytest.raises(ProgramError, match="load_store at Any"):
        kit.one_thread(partial(load_store, src=DDR(0), dst=Any, tile=tile))
    with pytest.raises(ProgramError, match="compute at Any"):
        kit.one_thread(partial(compute, Tile(kit.tiling(), (0, 0, 0), location=Any)))


def test_what_is_no_tile_is_refused_with_its_line(kit: SimpleNamespace) -> None:
    def wrong() -> None:
        start_writing("tile")  # type: ignore[type-var]

    line = wrong.__code__.co_firstlineno + 1
    with pytest.raises(UsageError, match=rf"test_states.py:{line}: expected a tile, got 'tile'"):
        kit.one_thread(wrong)
    with pytest.raises(UsageError, match="expected a compute tile, got Y"):
        kit.one_thread(lambda: compute(Tile(kit.tiling(), (0, 0, 0), location=kit.CORE).Y))


def test_a_location_is_a_place(kit: SimpleNamespace) -> None:
    with pytest.raises(UsageError, match=r"expected a place as location, got \(0, 1\)"):
        kit.one_thread(partial(start_writing, Tile(kit.tiling(), (0, 0, 0), location=(0, 1))))
    with pytest.raises(UsageError, match=r"expected a place such as DDR\(0\) or SRAM\(core\), got 'ddr'"):
        kit.one_thread(lambda: load_store(src="ddr", dst=Compute(), tile=Tile(kit.tiling())))  # type: ignore[arg-type]


def test_a_tile_of_another_tiling_is_refused(kit: SimpleNamespace) -> None:
    other = Tile(kit.tiling(total=(4, 4, 16), S=(2, 2, 8)), (0, 0, 0), location=kit.CORE)
    with pytest.raises(UsageError, match="belongs to another tiling than the program"):
        kit.one_thread(partial(start_writing, other))
    equal = Tile(kit.tiling(), (0, 0, 0), location=kit.CORE)
    assert kit.one_thread(partial(start_writing, equal)).operations == 1
