"""The form of machine files: what pydantic checks, and the JSON Schema published from it.

Imported only when a user's file is read: importing pydantic takes five times as long as loading a preset.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema

from pantile.errors import MachineError, suggestion
from pantile.machine.checks import NAME, parse_choice, parse_name
from pantile.machine.engine import COMPLETES, DURATIONS
from pantile.machine.families import FAMILIES
from pantile.machine.machine import SCHEMA
from pantile.machine.memory import SCOPES
from pantile.machine.path import POLICIES
from pantile.machine.units import BYTES, BYTES_PER_SECOND, COUNT, HERTZ, Unit, parse_quantity, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from pantile.machine.checks import Loc
    from pantile.machine.constant import Constant
    from pantile.machine.references import Problem

JsonSchema = dict[str, Any]

_PROVENANCE_SCHEMA: JsonSchema = {
    "source": {"type": "string", "minLength": 1, "description": "where the constants here come from"},
    "assumed": {"const": True, "description": "nobody stated the constants here; they were chosen"},
}


def _sourced(schema: JsonSchema) -> JsonSchema:
    """Return the schema of a constant: a value as *schema* says, or a table of it and its provenance."""
    table = {
        "type": "object",
        "properties": {"value": schema, **_PROVENANCE_SCHEMA},
        "required": ["value"],
        "additionalProperties": False,
    }
    return {"anyOf": [schema, table]}


def _quantity_schema(unit: Unit, minimum: int) -> JsonSchema:
    number: JsonSchema = {"type": "integer", "minimum": minimum}
    if not unit.factors:
        return _sourced(number)
    names = "|".join(name for name, _ in unit.factors)
    text = {"type": "string", "pattern": rf"^\s*[0-9]+(\.[0-9]+)?\s*({names})\s*$"}
    return _sourced({"anyOf": [number, text]})


def _choice_schema(allowed: Collection[str]) -> JsonSchema:
    return _sourced({"enum": list(allowed)})


def _quantity(unit: Unit, minimum: int) -> BeforeValidator:
    return BeforeValidator(partial(parse_quantity, unit=unit, minimum=minimum))


def _choice(allowed: Collection[str]) -> BeforeValidator:
    return BeforeValidator(partial(parse_choice, allowed=allowed))


def _optional(meaning: str, alias: str | None = None) -> Any:
    return Field(default=None, description=meaning, alias=alias, json_schema_extra=_drop_default)


def _required(meaning: str, alias: str | None = None) -> Any:
    return Field(description=meaning, alias=alias)


def _drop_default(schema: JsonSchema) -> None:
    del schema["default"]  # absent is not the same as null


_NAME_SCHEMA = {"type": "string", "pattern": f"^{NAME.pattern}$"}
_SHAPE_SCHEMA = _sourced({"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1})

Name = Annotated[str, BeforeValidator(parse_name), WithJsonSchema(_NAME_SCHEMA)]
Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, _quantity(COUNT, 1), WithJsonSchema(_quantity_schema(COUNT, 1))]
CountFromZero = Annotated[int, _quantity(COUNT, 0), WithJsonSchema(_quantity_schema(COUNT, 0))]
Bytes = Annotated[int, _quantity(BYTES, 1), WithJsonSchema(_quantity_schema(BYTES, 1))]
Rate = Annotated[int, _quantity(BYTES_PER_SECOND, 1), WithJsonSchema(_quantity_schema(BYTES_PER_SECOND, 1))]
Hertz = Annotated[int, _quantity(HERTZ, 1), WithJsonSchema(_quantity_schema(HERTZ, 1))]
Scope = Annotated[str, _choice(SCOPES), WithJsonSchema(_choice_schema(SCOPES))]
Completes = Annotated[str, _choice(COMPLETES), WithJsonSchema(_choice_schema(COMPLETES))]
Duration = Annotated[str, _choice(DURATIONS), WithJsonSchema(_choice_schema(DURATIONS))]
Policy = Annotated[str, _choice(POLICIES), WithJsonSchema(_choice_schema(POLICIES))]
Shape = Annotated[list[Count], Field(min_length=1), WithJsonSchema(_SHAPE_SCHEMA)]
Version = Annotated[str, _choice([SCHEMA]), WithJsonSchema({"const": SCHEMA})]
Free = dict[str, Any]


class _Form(BaseModel):
    """A table of the file; provenance has been taken out before it is checked."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ClockForm(_Form):
    """Clocks by name, in Hz."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Hertz]

    base: Name = _optional("the clock that cycles are counted in; core where it is not said")


class MemoryForm(_Form):
    """A memory, cut into equal slots."""

    name: Name = _required("what others refer to it by")
    scope: Scope = _required("one per core, chip or grid")
    capacity_bytes: Bytes = _optional("all slots together; absent means never full")
    slots: Count = _optional("tiles resident at once, 1 where it is not said")
    granule_bytes: Bytes = _optional("space and requests come in multiples of this, 1 where it is not said")


def _add_parameters(schema: JsonSchema) -> None:
    for constants in DURATIONS.values():
        for key, constant in constants.items():
            schema["properties"][key] = _constant_schema(constant)
    schema["additionalProperties"] = False


class EngineForm(_Form):
    """An engine with its queue; the parameters of its duration model stand beside the other keys."""

    model_config = ConfigDict(extra="allow", strict=True, json_schema_extra=_add_parameters)

    name: Name = _required("what others refer to it by")
    scope: Scope = _required("one per core, chip or grid")
    completes: Completes = _required("in_order or pipelined")
    queue_depth: Count = _optional("operations that may wait; absent means any number")
    duration: Duration = _required(f"the duration model: {' or '.join(DURATIONS)}")


class PathForm(_Form):
    """A way from a memory to a memory."""

    origin: Name = _required("the memory that is read", alias="from")
    to: Name = _required("the memory that is written")
    engine: Name = _required("the engine that carries it out")
    rate_bytes_per_second: Rate = _optional("peak rate; absent leaves the timing to the family's model")
    latency_cycles: CountFromZero = _optional("cycles before the first byte; absent likewise")
    clock: Name = _optional("clock of the latency; the base clock where it is not said")
    policy: Policy = _optional("what happens to several transfers at once; shared where it is not said")
    granule_bytes: Bytes = _optional("bytes served of one transfer before the next has its turn")


class GridForm(_Form):
    """The cores: either of the two keys."""

    cores: Count = _optional("cores in a row")
    shape: Shape = _optional("extent of each direction, outermost first")


class CoreForm(_Form):
    """Keys that one core overrides, as in engine.array.rows = 16."""

    index: CountFromZero = _required("the core whose keys are overridden, from 0")
    memory: dict[str, Free] = _optional("by memory: its sizes")
    engine: dict[str, Free] = _optional("by engine: its queue depth and parameters")
    family: dict[str, Free] = _optional("by family: constants that may differ between cores")


class MachineForm(_Form):
    """A machine of Pantile."""

    version: Version = _optional("version of this form", alias="schema")
    name: Text = _optional("the file's name where it is not said")
    description: str = _optional("one line for people")
    planner: Name = _optional("the planner used where none is named")
    clock: ClockForm = _required("at least one clock")
    memory: list[MemoryForm] = _optional("memories")
    engine: list[EngineForm] = _optional("engines")
    path: list[PathForm] = _optional("paths")
    grid: GridForm = _optional("the cores; a single one where it is not said")
    family: dict[str, Free] = _optional("constants that one family alone reads")
    core: list[CoreForm] = _optional("what single cores have different")


_FORMS: dict[str, type[_Form]] = {
    "memory": MemoryForm,
    "engine": EngineForm,
    "path": PathForm,
    "grid": GridForm,
    "core": CoreForm,
}
"""Forms of the tables below the top."""

_EXPECTED = {
    "string_type": "a text",
    "string_too_short": "a text",
    "list_type": "a list",
    "too_short": "at least one item",
}


def schema_problems(plain: Mapping[str, object]) -> list[Problem]:
    """Return every problem of form that *plain*, a document without provenance, has."""
    from pantile.machine.document import label_of  # imports this module

    try:
        MachineForm.model_validate(dict(plain))
    except ValidationError as error:
        details = error.errors(include_url=False)
        return [_problem(detail, label_of(plain, detail["loc"])) for detail in details]
    return []


def _problem(detail: Any, label: str) -> Problem:
    loc: Loc = detail["loc"]
    kind, found = detail["type"], shown(detail["input"])
    mend = None
    if kind == "extra_forbidden":
        text, mend = "nothing reads this key", suggestion(str(loc[-1]), _meanings(loc))
    elif kind == "missing":
        text = f"missing: {_meanings(loc)[str(loc[-1])]}"
        mend = f"write it as {_example(loc)}" if len(loc) == 1 else None
    elif kind == "value_error":
        cause = detail["ctx"]["error"]
        text, mend = cause.problem, cause.mend
    else:
        top = len(loc) == 1 or isinstance(loc[-1], int) or loc[0] == "family"
        expected = _EXPECTED.get(kind, f"a table, written {_example(loc)}" if top else "a table")
        if kind == "list_type" and len(loc) == 1:
            expected = f"a list of tables, each written {_example(loc)}"
        text = f"expected {expected}, got {found}"
    return loc, MachineError(f"{label}: {text}", mend=mend)


def _meanings(loc: Loc) -> dict[str, str]:
    """Return the keys of the table that *loc* is in, and what each means."""
    form = MachineForm if len(loc) == 1 else _FORMS[str(loc[0])]
    return {field.alias or name: field.description or "" for name, field in form.model_fields.items()}


def _example(loc: Loc) -> str:
    key = str(loc[0])
    return f"[[{key}]]" if key in ("memory", "engine", "path", "core") else f"[{'.'.join(map(str, loc))}]"


def _constant_schema(constant: Constant) -> JsonSchema:
    number: JsonSchema = {"type": "integer", "minimum": constant.minimum}
    text: JsonSchema = {"enum": list(constant.choices)} if constant.choices else {"type": "string"}
    schemas = {"count": number, "counts": {"type": "array", "items": number}, "text": text}
    schema = {"type": "object"} if constant.kind == "table" else _sourced(schemas[constant.kind])
    return {**schema, "description": constant.meaning}


def _family_schemas() -> Iterator[tuple[str, JsonSchema]]:
    for name, constants in FAMILIES.items():
        yield (
            name,
            {
                "type": "object",
                "properties": {key: _constant_schema(constant) for key, constant in constants.items()},
                "required": [
                    key
                    for key, constant in constants.items()
                    if constant.required and not constant.needed_with
                ],
                "additionalProperties": False,
            },
        )


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles, which only repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def machine_schema() -> JsonSchema:
    """Return the JSON Schema (draft 2020-12) of machine files as a person may write them."""
    schema = MachineForm.model_json_schema(schema_generator=_Untitled)
    families = dict(_family_schemas())
    schema["properties"]["family"] |= {"properties": families, "additionalProperties": False}
    tables = [schema, *schema["$defs"].values(), *families.values()]
    for table in tables:
        table["properties"] |= _PROVENANCE_SCHEMA
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def write_machine_schema(target: str | Path) -> None:
    """Write :func:`machine_schema` to the file *target*."""
    text = json.dumps(machine_schema(), indent=2, ensure_ascii=False)
    Path(target).write_text(f"{text}\n", encoding="utf-8")
