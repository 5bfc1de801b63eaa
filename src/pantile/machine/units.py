"""Quantities with units, read and written exactly.

Whole numbers stand for the base unit (bytes, hertz, bytes per second); text carries a unit. No
float takes part: ``"1.05 GHz"`` is 1 050 000 000 Hz, not its nearest double.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time

from pantile.errors import MachineError

LARGEST = 2**63 - 1
"""Largest value of any quantity: the columns of later steps are 64-bit signed integers."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One kind of quantity.

    Attributes:
        noun: What is counted, in the plural, as messages say it; empty for plain numbers.
        factors: Spelling and size in base units, smallest first; none where only plain numbers do.
        example: A text that an error message offers.
    """

    noun: str
    factors: tuple[tuple[str, int], ...]
    example: str

    def expected(self, minimum: int, maximum: int) -> str:
        """Say what a value may be, for an error message."""
        noun = f" of {self.noun}" if self.noun else ""
        bounds = f"from {minimum}" + (f" to {maximum}" if maximum < LARGEST else "")
        example = f", such as {self.example}" if self.example else ""
        return f"a whole number{noun} {bounds}{example}"


_BYTE_FACTORS = (
    ("B", 1),
    *(("kB", 10**3), ("MB", 10**6), ("GB", 10**9), ("TB", 10**12)),
    *(("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)),
)

BYTES = Unit("bytes", _BYTE_FACTORS, '65536 or "64 KiB"')
HERTZ = Unit(
    "hertz",
    (("Hz", 1), ("kHz", 10**3), ("MHz", 10**6), ("GHz", 10**9), ("THz", 10**12)),
    '1050000000 or "1.05 GHz"',
)
BYTES_PER_SECOND = Unit(
    "bytes per second",
    tuple((f"{name}/s", size) for name, size in _BYTE_FACTORS),
    '25600000000 or "25.6 GB/s"',
)
COUNT = Unit("", (), "")

# At most 30 digits: more than any legal value, few enough for int() to take at once.
_TEXT = re.compile(r"\s*([0-9]{1,30})(?:\.([0-9]{1,30}))?\s*([A-Za-z/]+)\s*")
_AMBIGUOUS = {"KB": "KiB (1024 bytes) or kB (1000 bytes)", "KB/s": "kB/s (1000 bytes per second)"}


def parse_quantity(value: object, unit: Unit, minimum: int = 0, maximum: int = LARGEST) -> int:
    """Return *value* in base units of *unit*, exactly.

    >>> parse_quantity("64 KiB", BYTES), parse_quantity("1.05 GHz", HERTZ), parse_quantity(7, COUNT)
    (65536, 1050000000, 7)

    Raises:
        MachineError: If it is no such quantity, is not whole, or is outside *minimum* to *maximum*.
    """
    expected = unit.expected(minimum, maximum)
    if isinstance(value, str) and unit.factors:
        number = _parse_text(value, unit, expected)
    elif isinstance(value, float) and unit.factors and value.is_integer() and abs(value) <= 2**53:
        number = int(value)  # 1e9: exact, since doubles hold every whole number up to 2^53
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        raise MachineError(f"expected {expected}, got {shown(value)}")
    if number < minimum:
        raise MachineError(f"expected {expected}, got {shown(value)}")
    if number > maximum:
        raise MachineError(f"expected at most {maximum}, got {shown(value)}")
    return number


def _parse_text(text: str, unit: Unit, expected: str) -> int:
    match = _TEXT.fullmatch(text)
    factors = dict(unit.factors)
    if match is None or match[3] not in factors:
        mend = None
        if match is not None:
            spelled = _AMBIGUOUS.get(match[3]) or ", ".join(name for name, _ in unit.factors)
            mend = f"write the unit as {spelled}"
        raise MachineError(f"expected {expected}, got {shown(text)}", mend=mend)
    whole, decimals, name = match[1], match[2] or "", match[3]
    number, rest = divmod(int(whole + decimals) * factors[name], int("1" + "0" * len(decimals)))
    if rest:
        raise MachineError(f"expected {expected}, got {shown(text)}, which is not whole")
    return number


def format_quantity(value: int, unit: Unit) -> str:
    """Return *value* in the unit that shows it exactly in the fewest digits.

    At most three decimals are used, and :func:`parse_quantity` reads the text back unchanged.

    >>> format_quantity(1536, BYTES), format_quantity(1_050_000_000, HERTZ), format_quantity(10, BYTES)
    ('1.5 KiB', '1.05 GHz', '10 B')
    """
    if not unit.factors:
        return str(value)
    texts = [f"{value} {unit.factors[0][0]}"]
    for name, size in unit.factors[1:]:
        thousandths, rest = divmod(value * 1000, size)
        if value >= size and not rest:
            whole, decimals = divmod(thousandths, 1000)
            texts.append(f"{whole}.{decimals:03}".rstrip("0").rstrip(".") + f" {name}")
    return min(texts, key=lambda text: sum(map(str.isdigit, text)))  # the first: the smallest such unit


def shown(value: object) -> str:
    """Return *value* as a message quotes it: on one line and no longer than a line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Mapping, list, tuple)):
        return "a table" if isinstance(value, Mapping) else "a list"
    text = "nothing" if value is None else str(value) if isinstance(value, date | time) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
