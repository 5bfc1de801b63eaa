"""A part of a program's tables: what it keeps, and how it is numbered again."""

from __future__ import annotations

from pantile.view.columns import OPERATIONS, TILES, table
from pantile.view.cut import part_of
from pantile.view.residency import BLOCKS, ENTRIES, TOUCHES, Residency


def test_a_part_keeps_what_is_there_and_counts_from_its_beginning() -> None:
    operations = table(
        OPERATIONS,
        kind=[0] * 5,
        opcode=[0, 1, 2, 3, 4],
        engine=[0] * 5,
        tile=[0, 0, 1, 2, 2],
        releaser=[-1, 0, 1, 2, 3],
    )
    tiles = table(TILES, m_index=[7, 8, 9])
    given = {
        "opened": [0, 1, 3, 4],  # gone before, there before, filled inside, filled after
        "closed": [2, -1, 4, -1],
        "tile": [0, 0, 2, 2],
        "block": [0, 1, -1, 2],
        "tag": [10, 11, 12, 13],
    }
    entries = table(ENTRIES, **{spec.name: given.get(spec.name, [0] * 4) for spec in ENTRIES.specs})
    lives = Residency(
        entries=entries,
        blocks=table(BLOCKS, operand=[1, 2, 3]),
        touches=table(
            TOUCHES, operation=[0, 1, 2, 3, 4], mode=[1, 1, 0, 1, 1], entry=[0, 1, 1, 2, 3], pending=[0] * 5
        ),
    )
    part = part_of(operations, tiles, lives, range(2, 4))
    assert part.operations["opcode"].tolist() == [2, 3]
    assert part.operations["releaser"].tolist() == [-1, 0]
    assert part.tiles["m_index"].tolist() == [7, 8, 9]  # the first one's entry is still there
    assert part.operations["tile"].tolist() == [1, 2]
    kept = part.lives.entries
    assert [kept[name].tolist() for name in ("tag", "opened", "closed", "tile", "block")] == [
        [11, 12],
        [-1, 1],
        [-1, 2],
        [0, 2],
        [0, -1],
    ]
    assert part.lives.blocks["operand"].tolist() == [2]
    assert part.lives.touches["operation"].tolist() == [0, 1]
    assert part.lives.touches["entry"].tolist() == [0, 1]


def test_an_entry_that_ends_where_the_part_begins_stays_if_it_is_touched_there() -> None:
    operations = table(OPERATIONS, kind=[0, 0], opcode=[0, 0], engine=[0, 0], tile=[-1, -1])
    given = {"opened": [0], "closed": [1], "tile": [-1], "block": [-1]}
    lives = Residency(
        entries=table(ENTRIES, **{spec.name: given.get(spec.name, [0]) for spec in ENTRIES.specs}),
        blocks=table(BLOCKS, operand=[]),
        touches=table(TOUCHES, operation=[1], mode=[0], entry=[0], pending=[0]),
    )
    part = part_of(operations, table(TILES, m_index=[]), lives, range(1, 2))
    assert part.lives.entries["closed"].tolist() == [0]
    assert part.tiles.count == 0
