"""The listing of a literal program: one line per operation, and below it what it touches and waits for.

    12 0 load move load_store bytes=4096 tile=3 line=21
        box t 0+16, o 0+16, i 64+32
        read X ddr@0 256 +128 rows=16 pitch=512
        write X sram@(0,1) 0 +2048
    13 0 load sync finish_writing tile=3 line=22
        post -1 to 9 at finish as finish_writing   ; busy of D(0,0,2) at sram@(0,1)

Numbers of counters stand for lines of the section of counters; what follows a ``;`` is for the reader. A text
that is no single word is quoted. :func:`parse_text` reads a listing back to equal tables.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import Place, ProgramError
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import (
    TABLES,
    Completes,
    Edge,
    Kind,
    Mode,
    Overflow,
    Test,
    empty_tables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TITLE = "pantile program 1"

_HEADER = (
    "name",
    "family",
    "semantics",
    "axes",
    "extents",
    "loops",
    "reductions",
    "operands",
    "labels",
    "parameters",
)
"""Keys of a program's JSON that stand at the top, one a line."""

_WORD = re.compile(r'[^\s"=;]+')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s;=]+=(?:"(?:[^"\\]|\\.)*"|[^\s;]*)|[^\s;]+|;')

_EDGES = {Edge.BEFORE_START: "start", Edge.AFTER_FINISH: "finish", Edge.ALONG: "along"}

_OP_DEFAULTS = {"bytes": 0, "macs": 0, "tile": -1, "count": 1, "duration_model": -1, "line": 0}

_RAW = ("arbiter", "task", "slot", "use", "resource")
"""Tables whose rows stand as plain numbers."""


def to_text(program: Program) -> str:
    """Return the listing of *program*.

    Raises:
        ProgramError: If it is not literal: its pieces repeat.
    """
    if len(program.pieces) != 1 or program.pieces[0].loops:
        raise ProgramError(
            f"program {program.name!r} repeats {len(program.pieces)} pieces: only literal programs are listed"
        )
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    tables = program.pieces[0].tables
    data = program.to_json()
    yield TITLE
    for key in _HEADER:
        yield f"{key}: {json.dumps(data[key], ensure_ascii=False)}"
    yield ""
    for row in tables["thread"]:
        yield _fields(
            f"thread {row['id']} {_name(program, row['name'])} {Completes(row['completes']).name.lower()}",
            row,
            {"core": -1, "arbiter": -1, "task": -1},
        )
    named = {
        int(row["id"]): f"{program.text(row['src'])} of {program.text(row['dst'])}"
        for row in tables["counter"]
    }
    for row in tables["counter"]:
        head = f"counter {row['id']} {_name(program, row['src'])} {_name(program, row['dst'])}"
        yield _fields(
            f"{head} {Overflow(row['overflow']).name.lower()}", row, {"key": 0, "initial": 0, "capacity": 0}
        )
    for table in _RAW:
        for row in tables[table]:
            yield f"{table} {' '.join(map(str, row.tolist()))}"
    yield ""
    below = {name: _by_op(tables[name]) for name in ("box", "access", "sync")}
    threads = {int(row["id"]): _name(program, row["name"]) for row in tables["thread"]}
    for row in tables["op"]:
        yield _op_line(program, row, threads)
        for box in below["box"].get(int(row["id"]), ()):
            yield f"    box {_box(program, box)}"
        for access in below["access"].get(int(row["id"]), ()):
            yield f"    {_access(program, access)}"
        for sync in below["sync"].get(int(row["id"]), ()):
            yield f"    {_sync(program, sync)}   ; {named.get(int(sync['counter']), '')}"
    yield ""
    yield f"names: {json.dumps(list(program.names), ensure_ascii=False)}"


def _by_op(rows: np.ndarray) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row in rows:
        found.setdefault(int(row["op"]), []).append(row)
    return found


def _name(program: Program, index: int) -> str:
    """Return a text of the program as one word, ``#`` and its number where that would be ambiguous."""
    if index < 0:
        return "-"
    text = program.names[index]
    if program.names.index(text) != index or text.startswith("#") or text == "-":
        return f"#{index}"
    return text if _WORD.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _fields(head: str, row: Any, defaults: dict[str, int]) -> str:
    return " ".join([head, *(f"{key}={row[key]}" for key, usual in defaults.items() if row[key] != usual)])


def _op_line(program: Program, row: Any, threads: dict[int, str]) -> str:
    thread, kind = threads[int(row["thread"])], Kind(row["kind"]).name.lower()
    head = f"{row['id']} {row['thread']} {thread} {kind} {_name(program, row['opcode'])}"
    line = _fields(head, row, _OP_DEFAULTS)
    if row["engine"] != -1:
        line += f" engine={_name(program, row['engine'])}"
    return line + (f" listing={row['listing_index']}" if row["listing_index"] != row["id"] else "")


def _box(program: Program, row: Any) -> str:
    sides = [
        f"{name} {lo}+{length}"
        for name, lo, length in zip(program.axes, row["lo"].tolist(), row["length"].tolist(), strict=False)
        if lo or length
    ]
    run = f" along={row['axis']} step={row['step']}" if row["axis"] != -1 or row["step"] else ""
    return (", ".join(sides) or "-") + run


def _access(program: Program, row: Any) -> str:
    operand = program.operands[row["operand"]].name if row["operand"] >= 0 else "-"
    mode, space = Mode(row["mode"]).name.lower(), _space(program, row["space"])
    head = f"{mode} {operand} {space} {row['lo']} +{row['length']}"
    line = _fields(head, row, {"rows": 1, "pitch": int(row["length"]), "generation": 0})
    return line + (f" location={row['location']}" if row["location"] != row["space"] else "")


def _space(program: Program, index: int) -> str:
    spaces = program.parameters.get("spaces", ())
    return str(spaces[index]) if 0 <= index < len(spaces) and _WORD.fullmatch(spaces[index]) else f"#{index}"


def _sync(program: Program, row: Any) -> str:
    at = f" at {_EDGES[Edge(row['edge'])]}"
    if row["test"] == Test.POST:
        line = f"post {row['amount']:+d} to {row['counter']}{at}"
    else:
        line = f"wait {Test(row['test']).name.lower()} {row['amount']} of {row['counter']}{at}"
    return (
        line
        + f" as {_name(program, row['shown_as'])}"
        + (f" group={row['group']}" if row["group"] != -1 else "")
    )


def parse_text(text: str, path: str = "") -> Program:
    """Return the program of a listing.

    Raises:
        ProgramError: With file and line, if it is no listing.
    """
    lines = text.splitlines()
    reader = _Reader(path or "listing")
    if not lines or lines[0].strip() != TITLE:
        raise ProgramError(f"expected {TITLE!r} on the first line", place=Place(reader.path, 1))
    try:
        for number, line in enumerate(lines[1:], start=2):
            reader.line = number
            reader.read(line)
        return reader.program()
    except ProgramError:
        raise
    except (KeyError, ValueError, IndexError, TypeError, AttributeError, OverflowError, AssertionError):
        what = lines[reader.line - 1].strip()[:60]
        raise ProgramError(
            f"cannot read {what!r}", place=Place(reader.path, reader.line), mend="see docs/tile-language.md"
        ) from None


class _Reader:
    """Reads a listing line by line."""

    def __init__(self, path: str) -> None:
        self.path, self.line = path, 0
        self.header: dict[str, Any] = {}
        self.rows: dict[str, list[tuple[int, list[tuple[str, Any]]]]] = {name: [] for name in TABLES}
        self.op = -1

    def read(self, line: str) -> None:
        """Take one line."""
        key, colon, rest = line.partition(": ")
        if colon and (key in _HEADER or key == "names"):
            self.header[key] = json.loads(rest)
            return
        words, fields = _split(line)
        if not words:
            return
        readers: dict[str, Callable[[list[str], dict[str, str]], None]] = {
            "thread": self._thread,
            "counter": self._counter,
            "box": self._box,
            "post": self._sync,
            "wait": self._sync,
            **{mode.name.lower(): self._access for mode in Mode},
            **dict.fromkeys(_RAW, self._raw),
        }
        readers.get(words[0], self._op)(words, fields)

    def _thread(self, words: list[str], fields: dict[str, str]) -> None:
        row = {"id": int(words[1]), "name": _Text(words[2]), "completes": Completes[words[3].upper()]}
        self._add("thread", {"core": -1, "arbiter": -1, "task": -1} | row | _ints(fields))

    def _counter(self, words: list[str], fields: dict[str, str]) -> None:
        row = {
            "id": int(words[1]),
            "src": _Text(words[2]),
            "dst": _Text(words[3]),
            "overflow": Overflow[words[4].upper()],
        }
        self._add("counter", row | _ints(fields))

    def _raw(self, words: list[str], _: dict[str, str]) -> None:
        names = TABLES[words[0]].names or ()
        self._add(words[0], dict(zip(names, map(int, words[1:]), strict=True)))

    def _op(self, words: list[str], fields: dict[str, str]) -> None:
        self.op = int(words[0])
        row: dict[str, Any] = {
            "id": self.op,
            "thread": int(words[1]),
            "kind": Kind[words[3].upper()],
            "opcode": _Text(words[4]),
            "engine": _Text(fields.pop("engine", "-")),
            "listing_index": int(fields.pop("listing", self.op)),
        }
        self._add("op", _OP_DEFAULTS | row | _ints(fields))

    def _box(self, words: list[str], fields: dict[str, str]) -> None:
        axes = self.header["axes"]
        lo, length = [0] * len(axes), [0] * len(axes)
        for name, side in zip(words[1::2], words[2::2], strict=True) if words[1] != "-" else ():
            first, _, count = side.rstrip(",").partition("+")
            lo[axes.index(name)], length[axes.index(name)] = int(first), int(count)
        run = {"axis": int(fields.get("along", -1)), "step": int(fields.get("step", 0))}
        self._add("box", {"op": self.op, "lo": lo, "length": length} | run)

    def _access(self, words: list[str], fields: dict[str, str]) -> None:
        operands = [each["name"] for each in self.header["operands"]]
        spaces = self.header["parameters"].get("spaces", [])
        space = int(words[2][1:]) if words[2].startswith("#") else spaces.index(words[2])
        length = int(words[4])
        row = {
            "op": self.op,
            "mode": Mode[words[0].upper()],
            "operand": -1 if words[1] == "-" else operands.index(words[1]),
            "space": space,
            "location": space,
            "lo": int(words[3]),
            "length": length,
            "rows": 1,
            "pitch": length,
        }
        self._add("access", row | _ints(fields))

    def _sync(self, words: list[str], fields: dict[str, str]) -> None:
        if words[0] == "post":
            test, amount, _, counter, _, edge, _, shown = (Test.POST, *words[1:])
        else:
            test, amount, _, counter, _, edge, _, shown = (Test[words[1].upper()], *words[2:])
        edges = {text: each for each, text in _EDGES.items()}
        row = {"op": self.op, "edge": edges[edge], "counter": int(counter), "test": test}
        self._add(
            "sync", {"group": -1} | row | {"amount": int(amount), "shown_as": _Text(shown)} | _ints(fields)
        )

    def _add(self, table: str, row: dict[str, Any]) -> None:
        unknown = set(row) - set(TABLES[table].names or ())
        if unknown:
            raise KeyError(*unknown)
        self.rows[table].append((self.line, list(row.items())))

    def program(self) -> Program:
        """Return what was read.

        Raises:
            ProgramError: If a part is missing.
        """
        missing = [key for key in (*_HEADER, "names") if key not in self.header]
        if missing:
            raise ProgramError(f"the listing lacks {', '.join(missing)}", place=Place(self.path, self.line))
        names = self.header["names"]
        tables = empty_tables()
        for table, rows in self.rows.items():
            made = np.zeros(len(rows), TABLES[table])
            for row, (self.line, values) in zip(made, rows, strict=True):
                for key, value in values:
                    if isinstance(value, list):
                        row[key][: len(value)] = value
                    else:
                        row[key] = value.index(names) if isinstance(value, _Text) else value
            tables[table] = made
        empty = Program.from_json(self.header | {"pieces": []})
        return Program.from_json(empty.to_json() | {"pieces": [Piece(tables).to_json()]})


class _Text:
    """A text of the program, by its word in a listing."""

    def __init__(self, word: str) -> None:
        self.word = word

    def index(self, names: list[str]) -> int:
        """Return its number."""
        if self.word == "-":
            return -1
        if self.word.startswith("#"):
            return int(self.word[1:])
        return names.index(self.word)


def _split(line: str) -> tuple[list[str], dict[str, str]]:
    """Return the words of a line, and its ``key=value`` pairs; what follows a ``;`` is left out."""
    words: list[str] = []
    fields: dict[str, str] = {}
    for token in _TOKEN.findall(line):
        if token == ";":
            break
        if token.startswith('"'):
            words.append(json.loads(token))
        elif "=" in token:
            key, _, value = token.partition("=")
            fields[key] = json.loads(value) if value.startswith('"') else value
        else:
            words.append(token)
    return words, fields


def _ints(fields: dict[str, str]) -> dict[str, int]:
    return {key: int(value) for key, value in fields.items()}
