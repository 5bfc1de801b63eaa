"""The trace file: what every unit did and when, for ui.perfetto.dev.

A core is a track; below it stands one track per unit. A unit that does several
things at once (outstanding transfers, a pipelined array) gets one lane per
thing below its own track, because slices of one Perfetto track must nest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import IO, TYPE_CHECKING, Any

from pantile.view.outfile import replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

PS_PER_NS = 1000
_SEQUENCE = 1  # all packets come from one writer
_STATE_CLEARED = 1  # TracePacket.SEQ_INCREMENTAL_STATE_CLEARED


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One operation on one unit.

    Attributes:
        core: Index of the core that the unit belongs to.
        unit: Name of the unit.
        name: What is written on the bar.
        start_ps: Begin, in picoseconds.
        finish_ps: End, in picoseconds; not before the begin.
        details: Shown when the bar is selected: tile, opcode, bytes, released by.
    """

    core: int
    unit: str
    name: str
    start_ps: int
    finish_ps: int
    details: Mapping[str, int | str] = field(default_factory=dict)


def assign_lanes(slices: Sequence[Slice]) -> list[int]:
    """Return the lane of each slice, so that the slices on a lane of a unit never overlap.

    Slices are taken by start, and each gets the lowest lane that is free, so a
    unit has as many lanes as it ever had slices at once.

    >>> ranges = [(0, 10), (4, 8), (8, 12), (10, 11)]
    >>> assign_lanes([Slice(core=0, unit="dma", name="", start_ps=a, finish_ps=b) for a, b in ranges])
    [0, 1, 1, 0]
    """
    lanes = [0] * len(slices)
    busy: dict[tuple[int, str], list[tuple[int, int]]] = {}  # per unit: (free from, lane)
    free: dict[tuple[int, str], list[int]] = {}
    made: dict[tuple[int, str], int] = {}
    order = sorted(range(len(slices)), key=lambda row: (slices[row].start_ps, slices[row].finish_ps, row))
    for row in order:
        unit = (slices[row].core, slices[row].unit)
        running, idle = busy.setdefault(unit, []), free.setdefault(unit, [])
        while running and running[0][0] <= slices[row].start_ps:
            heappush(idle, heappop(running)[1])
        if idle:
            lanes[row] = heappop(idle)
        else:
            lanes[row] = made.get(unit, 0)
            made[unit] = lanes[row] + 1
        heappush(running, (slices[row].finish_ps, lanes[row]))
    return lanes


def write_trace(slices: Iterable[Slice], path: str | os.PathLike[str]) -> None:
    """Write *slices* to *path* as a Perfetto trace, whole or not at all.

    Perfetto counts in nanoseconds: times are rounded down, the exact ones are
    among the details as ``start_ps`` and ``finish_ps``. The order of cores and
    units is that of their first slices.

    Raises:
        OutputError: If *path* cannot be written.
    """
    rows = list(slices)
    assert all(0 <= each.start_ps <= each.finish_ps for each in rows), "a slice that ends before it begins"
    lanes = assign_lanes(rows)
    with replacing(path) as stream:
        writer = _Writer(stream)
        tracks = _describe_tracks(writer, rows, lanes)
        order = sorted(range(len(rows)), key=lambda row: (rows[row].start_ps, rows[row].finish_ps, row))
        for track, members in _by_track(order, rows, lanes, tracks).items():
            for row in members:  # lane by lane, so that an end stands before the begin at the same time
                writer.slice(track, rows[row])


def _by_track(
    order: Iterable[int],
    rows: Sequence[Slice],
    lanes: Sequence[int],
    tracks: Mapping[tuple[int, str, int], int],
) -> dict[int, list[int]]:
    """Return the rows of each track, in order."""
    members: dict[int, list[int]] = {track: [] for track in tracks.values()}
    for row in order:
        members[tracks[rows[row].core, rows[row].unit, lanes[row]]].append(row)
    return members


def _describe_tracks(
    writer: _Writer, rows: Sequence[Slice], lanes: Sequence[int]
) -> dict[tuple[int, str, int], int]:
    """Write a track per core, unit and lane; return the track of each (core, unit, lane)."""
    lane_count: dict[tuple[int, str], int] = {}
    for each, lane in zip(rows, lanes, strict=True):
        lane_count[each.core, each.unit] = max(lane_count.get((each.core, each.unit), 0), lane + 1)
    cores: dict[int, int] = {}
    tracks: dict[tuple[int, str, int], int] = {}
    for rank, ((core, unit), count) in enumerate(lane_count.items()):
        if core not in cores:
            cores[core] = writer.track(f"core {core}", rank=core)
        track = writer.track(unit, parent=cores[core], rank=rank)
        for lane in range(count):
            name = f"{unit}, lane {lane}"
            tracks[core, unit, lane] = track if count == 1 else writer.track(name, parent=track, rank=lane)
    return tracks


class _Writer:
    """Turns tracks and slices into packets on a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent
        from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

        self._builder = StreamingTraceProtoBuilder(stream)
        self._track, self._event = TrackDescriptor, TrackEvent
        self._tracks = 0

    def _packet(self) -> Any:
        """Return a new packet of our sequence."""
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def track(self, name: str, *, rank: int, parent: int = 0) -> int:
        """Describe a track below *parent* (0: at the top), *rank*-th among its siblings; return its id."""
        self._tracks += 1
        packet = self._packet()
        if self._tracks == 1:
            packet.sequence_flags = _STATE_CLEARED
        described = packet.track_descriptor
        described.uuid, described.name, described.sibling_order_rank = self._tracks, name, rank
        described.child_ordering = self._track.EXPLICIT
        described.sibling_merge_behavior = self._track.SIBLING_MERGE_BEHAVIOR_NONE
        if parent:
            described.parent_uuid = parent
        self._builder.write_packet(packet)
        return self._tracks

    def slice(self, track: int, each: Slice) -> None:
        """Write the begin, with all details, and the end of a slice."""
        begin = self._packet()
        begin.timestamp = each.start_ps // PS_PER_NS
        event = begin.track_event
        event.type, event.track_uuid, event.name = self._event.TYPE_SLICE_BEGIN, track, each.name
        exact = {"start_ps": each.start_ps, "finish_ps": each.finish_ps}
        for key, value in {**each.details, **exact}.items():
            note = event.debug_annotations.add()
            note.name = key
            if isinstance(value, int):
                note.int_value = value
            else:
                note.string_value = value
        self._builder.write_packet(begin)
        end = self._packet()
        end.timestamp = each.finish_ps // PS_PER_NS
        end.track_event.type, end.track_event.track_uuid = self._event.TYPE_SLICE_END, track
        self._builder.write_packet(end)
