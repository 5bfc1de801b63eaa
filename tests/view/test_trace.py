"""The trace file says what happened, on tracks whose slices never overlap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from pantile.errors import OutputError
from pantile.view.trace import Slice, assign_lanes, write_trace


def on(unit: str, start: int, finish: int, core: int = 0, name: str = "x", **details: int | str) -> Slice:
    return Slice(core=core, unit=unit, name=name, start_ps=start, finish_ps=finish, details=details)


def read(path: Path) -> Trace:
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    return trace


def tracks(trace: Trace) -> dict[int, str]:
    """Full name of each track: core / unit / lane."""
    names: dict[int, str] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            above = f"{names[track.parent_uuid]} / " if track.parent_uuid else ""
            names[track.uuid] = above + track.name
    return names


def intervals(trace: Trace) -> list[tuple[str, str, int, int]]:
    """(track, name, begin, end) of each slice, by a stack per track as the reader of Perfetto does."""
    names, open_slices, found = tracks(trace), {}, []
    for packet in trace.packet:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in open_slices, "two slices at once on one track"
            open_slices[event.track_uuid] = (event.name, packet.timestamp)
        else:
            name, begin = open_slices.pop(event.track_uuid)
            found.append((names[event.track_uuid], name, begin, packet.timestamp))
    assert not open_slices
    return found


def test_a_unit_with_one_thing_at_a_time_has_no_lanes(tmp_path: Path) -> None:
    write_trace([on("array", 0, 22_000), on("array", 22_000, 30_000)], tmp_path / "t")
    assert intervals(read(tmp_path / "t")) == [
        ("core 0 / array", "x", 0, 22),
        ("core 0 / array", "x", 22, 30),
    ]


def test_outstanding_transfers_get_lanes_below_their_unit_and_core(tmp_path: Path) -> None:
    slices = [
        on("loads", 1_000, 39_000, name="a"),
        on("loads", 2_000, 57_000, name="b"),
        on("loads", 40_000, 59_000, name="c"),
        on("loads", 1_000, 2_000, core=1, name="d"),
    ]
    write_trace(slices, tmp_path / "t")
    assert sorted(intervals(read(tmp_path / "t"))) == [
        ("core 0 / loads / loads, lane 0", "a", 1, 39),
        ("core 0 / loads / loads, lane 0", "c", 40, 59),
        ("core 0 / loads / loads, lane 1", "b", 2, 57),
        ("core 1 / loads", "d", 1, 2),
    ]


def test_details_and_exact_times_travel_with_the_slice(tmp_path: Path) -> None:
    write_trace([on("array", 1_428, 2_856, tile="(0, 0, 1)", bytes=256)], tmp_path / "t")
    trace = read(tmp_path / "t")
    (begin,) = (packet for packet in trace.packet if packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN)
    assert begin.timestamp == 1  # 1.428 ns rounded down
    notes = {note.name: note.string_value or note.int_value for note in begin.track_event.debug_annotations}
    assert notes == {"tile": "(0, 0, 1)", "bytes": 256, "start_ps": 1_428, "finish_ps": 2_856}


def test_no_slices_give_a_trace_without_packets(tmp_path: Path) -> None:
    write_trace([], tmp_path / "t")
    assert list(read(tmp_path / "t").packet) == []


def test_unwritable_path_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder") as caught:
        write_trace([on("array", 0, 1)], tmp_path / "missing" / "t")
    assert "\n" not in str(caught.value)


ranges = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(0, 1)), max_size=30)


@given(ranges)
def test_lanes_never_overlap_and_are_as_few_as_possible(rows: list[tuple[int, int, int]]) -> None:
    slices = [on("unit", start, start + length, core=core) for start, length, core in rows]
    lanes = assign_lanes(slices)
    for core in (0, 1):
        here = [
            (each.start_ps, each.finish_ps, lane)
            for each, lane in zip(slices, lanes, strict=True)
            if each.core == core
        ]
        for index, (start, finish, lane) in enumerate(here):
            for start_too, finish_too, lane_too in here[:index]:
                assert lane != lane_too or finish <= start_too or finish_too <= start
        at_once = max((sum(s <= t < f or s == f == t for s, f, _ in here) for t, _, _ in here), default=0)
        assert len({lane for *_, lane in here}) <= at_once


def test_importing_the_writer_does_not_load_perfetto() -> None:
    code = "import sys, pantile.view.trace, pantile.view.render; print('perfetto' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
