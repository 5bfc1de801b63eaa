"""What the argument parser complains of, in the words and on the one line of all other errors."""

from __future__ import annotations

import typer

from pantile.errors import Place, UsageError


def usage_error(error: typer.TyperException) -> UsageError:
    """Return the error for a command line that cannot be parsed."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "pantile"
    problem, _, hint = (_missing(error) or error.message).partition(". ")  # "Did you mean …" stands behind
    problem = problem.rstrip(".")
    near = sorted(getattr(error, "possibilities", None) or ())
    mend = f"did you mean {near[0]!r}?" if near else hint[:1].lower() + hint[1:]
    return UsageError(
        problem[:1].lower() + problem[1:],
        place=Place(command),
        mend=mend or f"see `{command} --help`",
    )


def _missing(error: typer.TyperException) -> str:
    """Say which argument or option is missing, ``""`` if none is."""
    parameter = getattr(error, "param", None)
    if parameter is None or error.message:
        return ""
    names = "/".join(name for name in parameter.opts if name.startswith("-"))
    return f"missing {names} {parameter.metavar or parameter.name}".replace("  ", " ")
