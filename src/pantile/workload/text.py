"""Workloads as one line of text: ``gemm:m=32,n=32,k=64`` and ``bmm:b=8,m=32,n=32,k=64``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pantile.errors import Place, WorkloadError, suggestion
from pantile.workload.dtypes import dtype
from pantile.workload.matmul import Matmul
from pantile.workload.sizes import parse_size, quoted
from pantile.workload.tilecall import SCHEME as TILE_CALL
from pantile.workload.tokens import Fields, Scheme, label

if TYPE_CHECKING:
    from pantile.workload.dtypes import Dtype

_LETTERS = {"m": "m=32", "n": "n=32", "k": "k=64"}
_BMM = Scheme(
    name="bmm",
    keys={"b": "b=8"}
    | _LETTERS
    | {"a": "a=16x256x512", "dtype": "dtype=int8", "ta": "ta", "tb": "tb"}
    | {"bias": "bias=fp32", "out": "out=fp32", "hf32": "hf32", "nz": "nz"},
    flags=frozenset({"ta", "tb", "hf32", "nz"}),
    optional_values=frozenset({"bias"}),
)
_GEMM = Scheme(
    name="gemm",
    keys=_LETTERS | {"dtype": "dtype=int8", "bias": "bias"},
    flags=frozenset({"bias"}),
    elsewhere={key: f"{key} is a key of bmm:" for key in _BMM.keys},
)
_SCHEMES = {scheme.name: scheme for scheme in (_GEMM, _BMM)}
SCHEMES = (*_SCHEMES, TILE_CALL)
"""What may stand before the colon of a workload text; ``mma-tile`` is no product, and read elsewhere."""


def parse_workload(text: str) -> Matmul:
    """Return the product that *text* describes.

    ``gemm:m=,n=,k=[,dtype=][,bias]`` is one product. ``bmm:b=,m=,n=,k=[,dtype=][,ta][,tb][,bias[=TYPE]]
    [,out=][,hf32][,nz]`` is *b* of them. ``bmm:a=16x256x512,b=1x512x1024`` gives the operands' shapes as
    they are stored: with ``ta`` the last two of ``a`` are k and m, with ``tb`` those of ``b`` are n and k.
    Blanks around a key or a value do not count.

    Raises:
        WorkloadError: If the text has a problem; its place names the column of the token.
        ManyProblems: If it has several.

    >>> parse_workload("bmm:a=16x256x512,b=1x512x1024,dtype=bf16").batch_shape
    (16,)
    """
    fields = Fields(text, _scheme(text))
    sizes = _sizes_of_shapes(fields) if "a" in fields else _sizes_of_letters(fields)
    element = fields.read("dtype", dtype, None)
    out = fields.read("out", dtype, None)
    bias = _bias(fields)
    fields.raise_problems()
    try:
        return Matmul(
            m=sizes.m,
            n=sizes.n,
            k=sizes.k,
            a_batch=sizes.a_batch,
            b_batch=sizes.b_batch,
            dtype=element,
            out=out,
            bias=bias,
            transpose_a="ta" in fields,
            transpose_b="tb" in fields,
            hf32="hf32" in fields,
            nz="nz" in fields,
        )
    except WorkloadError as error:  # the batches do not broadcast
        raise WorkloadError(error.problem, place=fields.tokens["b"].place, mend=error.mend) from None


def format_workload(matmul: Matmul) -> str:
    """Return the canonical text of *matmul*, which :func:`parse_workload` reads back but for its name.

    >>> format_workload(Matmul(m=2, n=3, k=4, bias="default"))
    'gemm:m=2,n=3,k=4,bias'
    >>> format_workload(Matmul(m=2, n=3, k=4, a_batch=(5, 1), b_batch=(6,)))
    'bmm:a=5x1x2x4,b=6x4x3'
    """
    options = _options(matmul)
    letters = f"m={matmul.m},n={matmul.n},k={matmul.k}"
    plain = not matmul.a_batch and not matmul.b_batch and matmul.k > 0
    if plain and all(option == "bias" or option.startswith("dtype=") for option in options):
        return ",".join((f"gemm:{letters}", *options))
    if matmul.a_batch == matmul.b_batch and len(matmul.a_batch) == 1:
        return ",".join((f"bmm:b={matmul.a_batch[0]},{letters}", *options))
    left = (matmul.k, matmul.m) if matmul.transpose_a else (matmul.m, matmul.k)
    right = (matmul.n, matmul.k) if matmul.transpose_b else (matmul.k, matmul.n)
    a, b = ("x".join(map(str, shape)) for shape in (matmul.a_batch + left, matmul.b_batch + right))
    return ",".join((f"bmm:a={a},b={b}", *options))


def _options(matmul: Matmul) -> list[str]:
    """Return the tokens after the sizes, in canonical order."""
    bias = "bias" if matmul.bias == "default" else f"bias={matmul.bias}"
    tokens = (
        (f"dtype={matmul.dtype}", matmul.dtype is not None),
        ("ta", matmul.transpose_a),
        ("tb", matmul.transpose_b),
        (bias, matmul.bias is not None),
        (f"out={matmul.out}", matmul.out is not None),
        ("hf32", matmul.hf32),
        ("nz", matmul.nz),
    )
    return [token for token, is_present in tokens if is_present]


def _scheme(text: str) -> Scheme:
    word, colon, _ = text.partition(":")
    if not colon:
        raise WorkloadError(
            f"expected gemm:…, bmm:…, FILE.onnx or FILE.csv, got {quoted(text)}",
            mend="write for example gemm:m=32,n=32,k=64",
        )
    place = Place(label(text), column=1)
    if word.strip() == TILE_CALL:
        problem = f"{TILE_CALL}: is one call of a library, which only lower and check take"
        mend = (
            "use gemm: or bmm:; to simulate or view the call, write what it emits with "
            "`pantile lower mma-tile:… --text > t.txt`, and use t.txt"
        )
        raise WorkloadError(problem, place=place, mend=mend)
    scheme = _SCHEMES.get(word.strip())
    if scheme is None:
        mend = suggestion(word.strip().lower(), _SCHEMES)
        raise WorkloadError(f"unknown scheme {quoted(word)}", place=place, mend=mend)
    return scheme


class _Sizes(NamedTuple):
    m: int
    n: int
    k: int
    a_batch: tuple[int, ...] = ()
    b_batch: tuple[int, ...] = ()


def _sizes_of_letters(fields: Fields) -> _Sizes:
    """Return the sizes of ``b=,m=,n=,k=``; problems are kept, and a wrong size stands in as 1."""
    is_batched = fields.scheme is _BMM
    fields.require("m", "n", "k")
    # A planner of batches knows what a product over nothing is; one GEMM of k = 0 is a slip.
    least = {"k": 0 if is_batched else 1}

    def size(letter: str) -> int:
        return fields.read(letter, lambda text: parse_size(text, letter, least=least.get(letter, 1)), 1)

    m, n, k = size("m"), size("n"), size("k")
    if not is_batched:
        return _Sizes(m, n, k)
    fields.require("b", mend="add b=8, or write gemm: for a single product")
    token = fields.tokens.get("b")
    if token and token.value and "x" in token.value:
        fields.note(
            "b", f"b is the batch where a= is not given, got {quoted(token.value)}", "give a= as well"
        )
        return _Sizes(m, n, k)
    batch = size("b")
    return _Sizes(m, n, k, (batch,), (batch,))


def _sizes_of_shapes(fields: Fields) -> _Sizes:
    """Return the sizes of ``a=SHAPE,b=SHAPE``; problems are kept, and wrong sizes stand in as 1."""
    for letter in _LETTERS:
        if letter in fields:
            fields.note(letter, f"{letter} follows from a= and b=", f"leave {letter}= out")
    fields.require("b", mend="add the shape of the right operand, such as b=1x512x1024")
    left = fields.read("a", lambda text: _shape(text, "a", k_at=-2 if "ta" in fields else -1), None)
    right = fields.read("b", lambda text: _shape(text, "b", k_at=-1 if "tb" in fields else -2), None)
    if left is None or right is None:
        return _Sizes(1, 1, 1)
    m, left_k = reversed(left[-2:]) if "ta" in fields else left[-2:]
    right_k, n = reversed(right[-2:]) if "tb" in fields else right[-2:]
    if left_k != right_k:
        mend = "make them equal; ta and tb say that an operand is stored transposed"
        fields.note("b", f"k is {left_k} in a= but {right_k} in b=", mend)
    return _Sizes(m, n, left_k, left[:-2], right[:-2])


def _shape(text: str, name: str, *, k_at: int) -> tuple[int, ...]:
    parts = text.split("x")
    if len(parts) < 2:
        raise WorkloadError(
            f"{name} must be a shape of at least 2 dimensions, got {quoted(text)}",
            mend=f"write {name}=256x512 or {name}=16x256x512",
        )
    return tuple(
        parse_size(part.strip(), f"dimension {at + 1} of {name}", least=0 if at == len(parts) + k_at else 1)
        for at, part in enumerate(parts)
    )


def _bias(fields: Fields) -> Dtype | str | None:
    token = fields.tokens.get("bias")
    if token is not None and token.value is None:
        return "default"
    return fields.read("bias", dtype, None)
