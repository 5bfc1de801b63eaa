from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pantile.errors import ManyProblems, PantileError, WorkloadError
from pantile.workload.dtypes import DTYPES
from pantile.workload.matmul import Matmul
from pantile.workload.sizes import LARGEST_SIZE
from pantile.workload.text import SCHEMES, format_workload, parse_workload

INTEGER = "; write a whole number from 1 to 2147483647"
TILE_CALL = (
    "mma-tile: is one call of a library, which only lower and check take; use gemm: or bmm:; to simulate "
    "or view the call, write what it emits with `pantile lower mma-tile:… --text > t.txt`, and use t.txt"
)
SHAPE = "; write a=256x512 or a=16x256x512"
TRANSPOSED = "; make them equal; ta and tb say that an operand is stored transposed"
FP32, INT8, FP16 = DTYPES["fp32"], DTYPES["int8"], DTYPES["fp16"]


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("gemm:m=32,n=32,k=64", Matmul(m=32, n=32, k=64)),
        ("gemm:k=1,bias,n=2,dtype=int8,m=3", Matmul(m=3, n=2, k=1, dtype=INT8, bias="default")),
        ("gemm: m = 1 , n=2,k=3 ", Matmul(m=1, n=2, k=3)),
        ("bmm:b=8,m=1,n=2,k=3", Matmul(m=1, n=2, k=3, a_batch=(8,), b_batch=(8,))),
        ("bmm:b=1,m=1,n=2,k=0", Matmul(m=1, n=2, k=0, a_batch=(1,), b_batch=(1,))),
        ("bmm:a=16x256x512,b=1x512x1024", Matmul(m=256, n=1024, k=512, a_batch=(16,), b_batch=(1,))),
        ("bmm:a=2x3,b=3x4", Matmul(m=2, n=4, k=3)),
        ("bmm:a=4x1x2x3,b=5x3x2", Matmul(m=2, n=2, k=3, a_batch=(4, 1), b_batch=(5,))),
        # as stored: with ta the last two of a are k and m, with tb those of b are n and k
        ("bmm:a=3x2,b=4x3,ta,tb", Matmul(m=2, n=4, k=3, transpose_a=True, transpose_b=True)),
        ("bmm:a=2x3,b=4x3,tb", Matmul(m=2, n=4, k=3, transpose_b=True)),
        (
            "bmm:a=1x1,b=1x1,dtype=half,out=fp32,bias=fp32,hf32,nz",
            Matmul(m=1, n=1, k=1, dtype=FP16, out=FP32, bias=FP32, hf32=True, nz=True),
        ),
        ("bmm:b=2,m=1,n=1,k=1,bias", Matmul(m=1, n=1, k=1, a_batch=(2,), b_batch=(2,), bias="default")),
        (
            "gemm:m=2147483647,n=2147483647,k=2147483647",
            Matmul(m=LARGEST_SIZE, n=LARGEST_SIZE, k=LARGEST_SIZE),
        ),
    ],
)  # fmt: skip
def test_reads(text: str, product: Matmul) -> None:
    assert parse_workload(text) == product


@pytest.mark.parametrize(
    ("text", "column", "line"),
    [
        ("gemm:m=1,n=2", 1, "gemm: lacks k; add k=64"),
        ("gemm:", 1, "gemm: lacks m, n, k; add m=32,n=32,k=64"),
        ("gemm:m=1,n=2,k=3,kk=4", 18, "unknown key 'kk' in gemm:; did you mean 'k'?"),
        ("gemm:m=1,n=2,k=3,dtpe=int8", 18, "unknown key 'dtpe' in gemm:; did you mean 'dtype'?"),
        ("gemm:m=1,n=2,k=3,M=1", 18, "unknown key 'M' in gemm:; did you mean 'm'?"),
        ("gemm:m=1,n=2,k=3,ta", 18, "unknown key 'ta' in gemm:; ta is a key of bmm:"),
        ("gemm:m=1,n=2,k=3,b=4", 18, "unknown key 'b' in gemm:; b is a key of bmm:"),
        ("gemm:m=1,n=2,m=1,k=3", 14, "m is given twice"),
        ("gemm:m=1,n=,k=3", 10, "n needs a value; write n=32"),
        ("gemm:m=1,n=2,k=3,", 18, "expected KEY=VALUE, got ''"),
        ("gemm:m=1,n=x,k=3", 10, "n must be an integer, got 'x'" + INTEGER),
        ("gemm:m=1,n=2.5,k=3", 10, "n must be an integer, got '2.5'" + INTEGER),
        ("gemm:m=0,n=2,k=3", 6, "m must be at least 1, got 0"),
        ("gemm:m=1,n=-2,k=3", 10, "n must be at least 1, got -2"),
        ("gemm:m=1,n=2,k=0", 14, "k must be at least 1, got 0"),
        ("gemm:m=2147483648,n=2,k=3", 6, "m must be at most 2147483647 (2^31 - 1), got 2147483648"),
        ("gemm:m=1,n=2,k=3,dtype=int9", 18, "unknown dtype 'int9'; did you mean 'int8'?"),
        ("gemm:m=1,n=2,k=3,bias=fp32", 18, "bias takes no value, got 'fp32'; write bias, or leave it out"),
        ("gemn:m=1,n=2,k=3", 1, "unknown scheme 'gemn'; did you mean 'gemm'?"),
        ("BMM:b=1,m=1,n=2,k=3", 1, "unknown scheme 'BMM'; did you mean 'bmm'?"),
        (":m=1", 1, "unknown scheme ''; allowed here: bmm, gemm"),
        ("mma-tile:m=1,n=1,k=1,dtype=fp16", 1, TILE_CALL),
        ("bmm:m=1,n=2,k=3", 1, "bmm: lacks b; add b=8, or write gemm: for a single product"),
        ("bmm:b=0,m=1,n=2,k=3", 5, "b must be at least 1, got 0"),
        ("bmm:b=2x3,m=1,n=2,k=3", 5, "b is the batch where a= is not given, got '2x3'; give a= as well"),
        ("bmm:b=1,m=1,n=2,k=-1", 17, "k must be at least 0, got -1"),
        ("bmm:b=1,m=1,n=2,k=3,ta=1", 21, "ta takes no value, got '1'; write ta, or leave it out"),
        ("bmm:b=1,m=1,n=2,k=3,bias=", 21, "bias needs a value; write bias=fp32"),
        ("bmm:b=1,m=1,n=2,k=3,out=fp33", 21, "unknown dtype 'fp33'; did you mean 'fp32'?"),
        ("bmm:a=2x3", 1, "bmm: lacks b; add the shape of the right operand, such as b=1x512x1024"),
        ("bmm:a=3,b=3x4", 5, "a must be a shape of at least 2 dimensions, got '3'" + SHAPE),
        ("bmm:a=2x3,b=3x4,m=2", 17, "m follows from a= and b=; leave m= out"),
        ("bmm:a=2x3,b=4x4", 11, "k is 3 in a= but 4 in b=" + TRANSPOSED),
        ("bmm:a=2x3,b=3x0", 11, "dimension 2 of b must be at least 1, got 0"),
        ("bmm:a=0x3,b=3x4", 5, "dimension 1 of a must be at least 1, got 0"),
        ("bmm:a=2xqx3,b=3x4", 5, "dimension 2 of a must be an integer, got 'q'" + INTEGER),
        (
            "bmm:a=3x2x4,b=2x4x5",
            13,
            "batches 3 and 2 do not broadcast; make each pair of batch dimensions equal, or one of them 1",
        ),
    ],
)  # fmt: skip
def test_refuses_in_one_line_at_the_token(text: str, column: int, line: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        parse_workload(text)
    assert str(caught.value) == f"{text}:{column}: {line} [PT-WORKLOAD]"


def test_reports_every_problem_in_the_order_of_the_text() -> None:
    with pytest.raises(ManyProblems) as caught:
        parse_workload("gemm:m=0,q=1,k=x,dtype=int9")
    columns = [problem.place.column for problem in caught.value.problems if problem.place]
    assert columns == [1, 6, 10, 14, 18]
    assert [problem.problem for problem in caught.value.problems] == [
        "gemm: lacks n",
        "m must be at least 1, got 0",
        "unknown key 'q' in gemm:",
        "k must be an integer, got 'x'",
        "unknown dtype 'int9'",
    ]


def test_a_text_without_a_scheme_is_told_the_forms() -> None:
    with pytest.raises(WorkloadError) as caught:
        parse_workload("m=1,n=2,k=3")
    assert str(caught.value) == (
        "expected gemm:…, bmm:…, FILE.onnx or FILE.csv, got 'm=1,n=2,k=3';"
        " write for example gemm:m=32,n=32,k=64 [PT-WORKLOAD]"
    )


dtypes = st.sampled_from([None, *DTYPES.values()])
sizes = st.integers(1, 40) | st.integers(1, LARGEST_SIZE)
batches = st.lists(st.integers(1, 3), max_size=3).map(tuple)


@st.composite
def products(draw: st.DrawFn) -> Matmul:
    a_batch, b_batch = draw(batches), draw(batches)
    if draw(st.booleans()):
        b_batch = a_batch
    aligned = zip(reversed(a_batch), reversed(b_batch), strict=False)
    assume(all(1 in pair or pair[0] == pair[1] for pair in aligned))
    return Matmul(
        m=draw(sizes),
        n=draw(sizes),
        k=draw(sizes | st.just(0)),
        a_batch=a_batch,
        b_batch=b_batch,
        dtype=draw(dtypes),
        out=draw(dtypes),
        bias=draw(dtypes | st.just("default")),
        transpose_a=draw(st.booleans()),
        transpose_b=draw(st.booleans()),
        hf32=draw(st.booleans()),
        nz=draw(st.booleans()),
    )


@given(products())
@example(Matmul(m=1, n=2, k=0))
@example(Matmul(m=1, n=2, k=3, transpose_a=True))
@example(Matmul(m=1, n=2, k=3, bias=FP32))
@example(Matmul(m=1, n=2, k=3, a_batch=(1,), b_batch=(1,)))
def test_printed_text_reads_back_as_the_same_product(product: Matmul) -> None:
    text = format_workload(product)
    assert parse_workload(text) == product
    assert format_workload(parse_workload(text)) == text


@given(products())
def test_the_shortest_scheme_is_printed(product: Matmul) -> None:
    text = format_workload(product)
    needs_bmm = bool(product.a_batch or product.b_batch or product.k == 0 or product.out or product.hf32)
    if needs_bmm or product.nz or product.transpose_a or product.transpose_b:
        assert text.startswith("bmm:")
    elif product.bias in (None, "default"):
        assert text.startswith("gemm:")


alphabet = st.sampled_from([*"abmnk=,:x0123456789- .", "dtype", "int8", "ta", "bias", "\n", "é"])


@given(st.sampled_from(SCHEMES), st.lists(alphabet, max_size=25))
def test_any_text_is_read_or_refused_on_single_lines(scheme: str, pieces: list[str]) -> None:
    text = f"{scheme}:{''.join(pieces)}"
    try:
        product = parse_workload(text)
    except PantileError as error:
        problems = error.problems if isinstance(error, ManyProblems) else (error,)
        assert all("\n" not in str(problem) and problem.place for problem in problems)
    else:
        assert parse_workload(format_workload(product)) == product
