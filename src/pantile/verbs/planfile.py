"""Plans read back: what ``plan --json`` wrote, as the input of another verb."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from pantile.errors import PantileError, Place, WorkloadError
from pantile.verbs.result import schema_of
from pantile.workload.sourcefile import read_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.tiling.plan import Plan

SCHEMA = schema_of("plan")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """What a plan's file says that planning again needs.

    Attributes:
        path: Where it stands.
        workload: Text that names the product.
        machine: Name of the machine it was made for.
        planner: Planner that made it.
        mapping: Text of the mapping; empty where the planner has none.
        semantics: Reading of the planner's rules.
        dims: Sizes of symbolic dimensions.
        data: The whole object.
    """

    path: str
    workload: str
    machine: str
    planner: str
    mapping: str
    semantics: str
    dims: Mapping[str, int]
    data: Mapping[str, Any]

    def require_mapping(self) -> None:
        """Check that the plan says what is planned again from.

        Raises:
            WorkloadError: If it has no mapping.
        """
        if "[" not in self.mapping:
            problem = "a plan without a usable 'parameters.mapping'"
            raise WorkloadError(problem, place=Place(self.path), mend="plan again")

    def plan(self) -> Plan:
        """Return the plan itself.

        Raises:
            WorkloadError: If a part of it is missing, or cannot be.
        """
        from pantile.tiling.plan import Plan

        try:
            return Plan.from_json(dict(self.data))
        except PantileError as error:
            raise WorkloadError(f"the plan cannot be: {error.problem}", place=Place(self.path)) from None
        except KeyError as error:
            problem = f"a plan without a usable {str(error.args[0])!r}"
            raise WorkloadError(problem, place=Place(self.path), mend="plan again") from None
        except (TypeError, ValueError, AttributeError) as error:
            problem = f"a plan with a part of another type: {error}"
            raise WorkloadError(problem, place=Place(self.path), mend="plan again") from None


def is_plan_file(workload: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether *workload* names a JSON file, which only a plan may be."""
    return isinstance(workload, str | os.PathLike) and os.fspath(workload).lower().endswith(".json")


def read_plan_file(path: str | os.PathLike[str]) -> PlanFile:
    """Return the plan in the file *path*.

    Raises:
        WorkloadError: If the file is missing, no JSON, no plan, or a plan that is not feasible.
    """
    place = Place(os.fspath(path))
    data = _object(place)
    if data.get("feasible") is not True:
        raise WorkloadError("there is no feasible plan in it", place=place)
    parameters = data.get("parameters")
    mapping = parameters.get("mapping") if isinstance(parameters, dict) else None
    texts = {key: data.get(key) for key in ("workload", "machine", "planner", "semantics")}
    wrong = [key for key, text in texts.items() if not isinstance(text, str)]
    if not isinstance(parameters, dict) or not isinstance(mapping, str | None):
        wrong.append("parameters.mapping")
    dims = data.get("dims", {})
    if not isinstance(dims, dict) or not all(type(size) is int for size in dims.values()):
        wrong.append("dims")
    if wrong:
        raise WorkloadError(f"a plan without a usable {wrong[0]!r}", place=place, mend="plan again")
    named = {key: str(text) for key, text in texts.items()}
    return PlanFile(path=place.path, mapping=mapping or "", dims=dims, data=data, **named)


def _object(place: Place) -> dict[str, Any]:
    """The object in a plan's file."""
    try:
        data = json.loads(read_source(place.path).decode())
    except UnicodeDecodeError:
        raise WorkloadError("expected a plan in JSON, got no UTF-8 text", place=place) from None
    except RecursionError:
        raise WorkloadError("expected a plan in JSON, got endless nesting", place=place) from None
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise WorkloadError(
                "expected a single plan, got several objects",
                place=Place(place.path, error.lineno),
                mend="plan one product, such as FILE.onnx#NODE",
            ) from None
        at = Place(place.path, error.lineno, error.colno)
        raise WorkloadError(f"expected a plan in JSON: {error.msg.lower()}", place=at) from None
    found = data.get("schema") if isinstance(data, dict) else type(data).__name__
    if not isinstance(data, dict) or found != SCHEMA:
        raise WorkloadError(
            f"expected an object of schema {SCHEMA!r}, got {found!r}",
            place=place,
            mend="write one with `pantile plan … --json`",
        )
    return data
