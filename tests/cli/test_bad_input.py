"""Bad input: exit code 2, nothing on standard output, and exactly these lines."""

# ruff: noqa: E501  # messages stand here whole, as they are printed

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pantile.machine as pantile_machine
from pantile.verbs.families import PLANNERS

if TYPE_CHECKING:
    from conftest import Outcome, Pantile, WriteMachine, WriteOnnx

M8 = ("-m", "systolic-ws-8x8")
SEED = ("gemm:m=32,n=32,k=64", *M8)
CUBE = ("gemm:m=16,n=16,k=16", *M8)


def assert_refused(done: Outcome, *lines: str) -> None:
    """Check that a command was refused with these lines, the beginnings of which are left out here."""
    assert done.err == "".join(f"error: {line}\n" for line in lines)
    assert (done.code, done.out) == (2, "")


WORKLOADS = {
    "gem:m=8,n=8,k=8": "gem:m=8,n=8,k=8:1: unknown scheme 'gem'; did you mean 'gemm'?",
    "gemm:m=8,n=8,k=8,z=3": "gemm:m=8,n=8,k=8,z=3:18: unknown key 'z' in gemm:; allowed here: bias, dtype, k, m, n",
    "gemm:m=8,n=8": "gemm:m=8,n=8:1: gemm: lacks k; add k=64",
    "gemm:m=0,n=8,k=8": "gemm:m=0,n=8,k=8:6: m must be at least 1, got 0",
    "gemm:m=-1,n=8,k=8": "gemm:m=-1,n=8,k=8:6: m must be at least 1, got -1",
    "gemm:m=8,n=8,k=0": "gemm:m=8,n=8,k=0:14: k must be at least 1, got 0",
    "gemm:m=2147483648,n=8,k=8": "gemm:m=2147483648,n=8,k=8:6: m must be at most 2147483647 (2^31 - 1), got 2147483648",
    "none.onnx": "none.onnx: there is no such file",
    "none.csv": "none.csv: there is no such file",
    "none.json": "none.json: there is no such file",
    ".": "expected gemm:…, bmm:…, FILE.onnx or FILE.csv, got '.'; write for example gemm:m=32,n=32,k=64",
}  # fmt: skip


@pytest.mark.parametrize("verb", ["plan", "lower", "check", "simulate"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_workloads(workload: str, verb: str, pantile: Pantile) -> None:
    problem = WORKLOADS[workload]
    if verb == "plan" and workload.endswith(".json"):  # a plan is no workload of plan
        problem = WORKLOADS["."].replace("'.'", "'none.json'")
    assert_refused(pantile(verb, workload, *M8), f"{problem} [PT-WORKLOAD]")


@pytest.mark.parametrize("verb", ["plan", "simulate"])
def test_a_single_call_is_no_product(verb: str, pantile: Pantile) -> None:
    problem = (
        "mma-tile:m=8:1: mma-tile: is one call of a library, which only lower and check take; use gemm: or bmm:; to simulate "
        "or view the call, write what it emits with `pantile lower mma-tile:… --text > t.txt`, and use t.txt"
    )
    assert_refused(pantile(verb, "mma-tile:m=8", *M8), f"{problem} [PT-WORKLOAD]")


SIZES = {
    "gemm:m=2147483647,n=1,k=1": "53687092 tiles: this version takes at most 1048576; split the product, "
    "or give a mapping with larger tiles",
    "bmm:b=2147483647,m=1,n=1,k=1": "2147483647 tiles: this version takes at most 1048576; split the product, "
    "or give a mapping with larger tiles",
    "gemm:m=2147483647,n=2147483647,k=1": "4611686018427387903 bytes of tensors: this version takes at most "
    "288230376151711744; split the workload",
    "bmm:b=2,m=8,n=8,k=0": None,
}


@pytest.mark.parametrize("verb", ["plan", "lower", "check", "simulate"])
@pytest.mark.parametrize("workload", SIZES)
def test_sizes_that_are_legal_and_too_much(workload: str, verb: str, pantile: Pantile) -> None:
    line = f"{workload}: {SIZES[workload]} [PT-OUTSIDE]"
    if SIZES[workload] is None:
        problem = "C (reduction elements) = 0 is outside 1 to 2147483647"
        line = f"{workload}: {problem}; leave the node out, for its result is all zeros [PT-WORKLOAD]"
    assert_refused(pantile(verb, workload, *M8), line)


def test_all_of_three_largest_sizes_are_two_problems(pantile: Pantile) -> None:
    workload = "gemm:m=2147483647,n=2147483647,k=2147483647"
    assert_refused(
        pantile("simulate", workload, *M8),
        f"{workload}: 13835058042397261827 bytes of tensors: this version takes at most 288230376151711744; "
        "split the workload [PT-OUTSIDE]",
        f"{workload}: 9903520300447984150353281023 multiply-accumulates: this version takes at most "
        "4611686018427387904; split the workload [PT-OUTSIDE]",
    )


PRESETS = f"presets are {', '.join(pantile_machine.preset_names())}; or give a FILE.toml or FILE.json"
MACHINES = {
    "systolic-ws-8x9": f"unknown machine 'systolic-ws-8x9'; did you mean 'systolic-ws-8x8'? {PRESETS}",
    "zzz": f"unknown machine 'zzz'; {PRESETS}",
    "none.toml": "none.toml: there is no such file",
    "folder.toml": "folder.toml: expected a machine file, got a directory",
    "folder.json": "folder.json: expected a machine file, got a directory",
}


@pytest.mark.parametrize("machine", MACHINES)
def test_machines(machine: str, pantile: Pantile) -> None:
    if machine.startswith("folder"):
        Path(machine).mkdir()
    assert_refused(pantile("simulate", SEED[0], "-m", machine), f"{MACHINES[machine]} [PT-MACHINE]")


def test_an_unknown_key_of_a_machine(pantile: Pantile, machine_file: WriteMachine) -> None:
    onnxim = Path(machine_file("mine.json"))
    onnxim.write_text(onnxim.read_text().replace("num_cores", "num_core"))
    done = pantile("simulate", SEED[0], "-m", "mine.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "error: mine.json: num_core: nothing reads this key; did you mean 'num_cores'? [PT"
    )
    preset = Path(pantile_machine.__file__).parent / "presets/systolic-ws-8x8.toml"
    Path("mine.toml").write_text(preset.read_text().replace("slots = 2", "slot = 2", 1))
    line = 1 + preset.read_text().splitlines().index("slots = 2")
    done = pantile("simulate", SEED[0], "-m", "mine.toml")
    assert (done.code, done.out) == (2, "")
    unknown, *_ = done.err.splitlines()
    assert unknown.startswith(f"error: mine.toml:{line}:1: ")
    assert unknown.endswith("did you mean 'slots'? [PT-MACHINE]")


@pytest.mark.parametrize(
    ("option", "value", "line"),
    [
        ("-p", "onxim", "unknown planner 'onxim'; did you mean 'onnxim'?"),
        ("-p", "search", f"unknown planner 'search'; allowed here: {', '.join(sorted(PLANNERS))}"),
        ("--semantics", "fixd", "unknown semantics 'fixd' of planner onnxim; did you mean 'fixed'?"),
        ("--semantics", "exact", "unknown semantics 'exact' of planner onnxim; allowed here: faithful, fixed"),
        ("--mapping", "none.mapping", "mapping file 'none.mapping': no such file or directory; give a file, or a "
         "text such as '[T] N32 …'"),
        ("--mapping", ".", "mapping file '.': is a directory; give a file, or a text such as '[T] N32 …'"),
        ("--dim", "m=8", "dimensions can be bound in an ONNX file only, got m for 'gemm:m=32,n=32,k=64'; "
         "leave --dim out"),
    ],
)  # fmt: skip
def test_plan_options(option: str, value: str, line: str, pantile: Pantile) -> None:
    for verb in ("plan", "lower", "check", "simulate"):
        assert_refused(pantile(verb, *SEED, option, value), f"{line} [PT-USAGE]")
    assert_refused(pantile("view", *SEED, option, value, "-o", "page.html"), f"{line} [PT-USAGE]")


MAPPINGS = {
    "[T] N16 C16 M16 - [O] N1 Cx M1 - [I] N16 C16 M16": (
        "1:26: expected a letter of N C M S R Q P and a count, got 'Cx'; write for example N16",
    ),
    "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16 K8": (
        "1:50: expected a letter of N C M S R Q P and a count, got 'K8'; write for example N16",
    ),
    "[T] N16 C16 M16 - [O] N0 C1 M1 - [I] N16 C16 M16": (
        "1:23: expected a count between 1 and 2147483647, got 'N0'; give N a count in that range",
    ),
    # Q6: the second of two reduction tiles is empty, and stores again.
    "[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C16 M16": (
        "1:26: [O] C2 of [I] C16 goes past 16 reduction elements: each of 256 outputs is stored 2 times (Q6); "
        "lower [O] C to 1",
    ),
    # Q7: one tile of 8 along each loop of 16.
    "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C8 M8": (
        "1:23: [O] N1 of [I] N8 covers 8 of 16 rows: 2048 of 4096 MACs are lost (Q7); raise [O] N to 2",
        "1:26: [O] C1 of [I] C8 covers 8 of 16 reduction elements: 2048 of 4096 MACs are lost, and none of 256 "
        "outputs is stored (Q7); raise [O] C to 2",
        "1:29: [O] M1 of [I] M8 covers 8 of 16 columns: 2048 of 4096 MACs are lost (Q7); raise [O] M to 2",
    ),
    # Q8: blocks at 0 and 8 of a tile of 12 reach to 16, and the next tile begins at 12: 4 of 16 rows again.
    "[T] N16 C16 M16 - [O] N2 C1 M1 - [I] N12 C16 M16": (
        "1:38: [I] N12 is no multiple of 8, the array's rows, so tiles overlap: 1024 MACs are repeated (Q8); "
        "write [I] N16 and [O] N1",
    ),
    "[T] N16 C16 M32 - [O] N1 C1 M1 - [I] N16 C16 M32": (
        "1:13: no node has the totals N16 C16 M32, the nearest is 'matmul' with N16 C16 M16; "
        "write [T] N16 C16 M16",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_mappings(mapping: str, pantile: Pantile) -> None:
    lines = [f"--mapping:{line} [PT-MAPPING]" for line in MAPPINGS[mapping]]
    assert_refused(pantile("simulate", *CUBE, "--mapping", mapping), *lines)


def test_a_tile_larger_than_its_memory_names_both_numbers(pantile: Pantile) -> None:
    mapping = "[T] N32 C2048 M32 - [O] N1 C1 M1 - [I] N32 C2048 M32"
    done = pantile("simulate", "gemm:m=32,n=32,k=2048", *M8, "--mapping", mapping)
    # 32 rows and 32 columns of 2048 B.
    problem = (
        "a tile N32 C2048 M32 is too large: 131072 B of scratchpad are needed, a half holds 32768 B (Q2)"
    )
    mend = "raise the counts of [O] and lower those of [I]"
    assert_refused(done, f"--mapping:1:44: {problem}; {mend} [PT-MAPPING]")


def test_a_tile_far_too_large_is_refused_at_once(pantile: Pantile) -> None:
    mapping = "[T] N99999 C8 M99999 - [O] N1 C1 M1 - [I] N99999 C8 M99999"
    done = pantile("simulate", "gemm:m=99999,n=99999,k=8", *M8, "--mapping", mapping)
    problem = (
        "a tile N99999 C8 M99999 is too large: 1599984 B of scratchpad are needed, a half holds 32768 B (Q2)"
    )
    mend = "raise the counts of [O] and lower those of [I]"
    assert_refused(done, f"--mapping:1:50: {problem}; {mend} [PT-MAPPING]")


def test_a_blank_line_of_a_mapping_file(pantile: Pantile) -> None:
    Path("net.mapping").write_text("[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16\n\n")
    problem = "a blank line, which ONNXim reads as the mapping of a 1x1x1 product (Q16)"
    done = pantile("simulate", *CUBE, "--mapping", "net.mapping")
    assert_refused(done, f"net.mapping:2: {problem}; remove the line [PT-MAPPING]")


def test_an_array_that_is_not_square_needs_an_explicit_mapping(
    pantile: Pantile, machine_file: WriteMachine
) -> None:
    machine = machine_file(core_width=16)
    problem = "the automatic mapping needs a square array, got 8 rows and 16 columns (Q19)"
    mend = 'give an explicit mapping: --mapping "[T] N16 C16 M16 - [O] … - [I] …"'
    done = pantile("simulate", CUBE[0], "-m", machine)
    assert_refused(done, f"{CUBE[0]}: {problem}; {mend} [PT-MAPPING]")
    mapping = "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16"
    assert pantile("simulate", CUBE[0], "-m", machine, "--mapping", mapping).code == 0


ELEMENTS = {
    "gemm:m=8,n=8,k=8,dtype=int4": (
        "elements of 4 bits; a systolic machine has whole bytes; name a type of 8 bits or more",
    ),
    "bmm:b=1,m=8,n=8,k=8,dtype=int8,out=fp32": (
        "elements of 8 bits and 32 bits in one run; a systolic machine has one width; name one type",
    ),
    "bmm:b=1,m=8,n=8,k=8,hf32,nz": (
        "hf32: no meaning on a systolic machine; leave it out",
        "nz: no meaning on a systolic machine; leave it out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("workload", ELEMENTS)
def test_element_types_of_other_families(workload: str, pantile: Pantile) -> None:
    lines = [f"{workload}: {line} [PT-OUTSIDE]" for line in ELEMENTS[workload]]
    assert_refused(pantile("simulate", workload, *M8), *lines)


def test_an_element_larger_than_a_request(pantile: Pantile, machine_file: WriteMachine) -> None:
    done = pantile("simulate", "gemm:m=8,n=8,k=8,dtype=fp32", "-m", machine_file(dram_req_size=2))
    assert (done.code, done.out) == (2, "")
    assert (
        "is 4: expected at most memory.dram.granule_bytes, the request size of 2 bytes (quirk Q22)"
        in done.err
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "expected an ONNX model, got an empty file"),
        (
            b"\x08\x07garbage\xff\xff",
            "expected an ONNX model: Error parsing message with type 'onnx.ModelProto'",
        ),
    ],
)
def test_corrupt_onnx_files(content: bytes, problem: str, pantile: Pantile) -> None:
    Path("bad.onnx").write_bytes(content)
    done = pantile("simulate", "bad.onnx", *M8)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: bad.onnx: {problem}")


def test_unbound_dimensions_are_all_named(pantile: Pantile, onnx_file: WriteOnnx) -> None:
    net = onnx_file([("MatMul", "p", ["x", "w"], "y")], {"x": ["batch", "seq", 32]}, {"w": [32, 24]})
    problem = "products depend on the unbound dimensions 'batch', 'seq'"
    mend = "bind with --dim batch=V --dim seq=V"
    assert_refused(pantile("simulate", net, *M8), f"{net}: {problem}; {mend} [PT-WORKLOAD]")
    problem = "products depend on the unbound dimension 'seq'"
    done = pantile("simulate", net, *M8, "--dim", "batch=2")
    assert_refused(done, f"{net}: {problem}; bind with --dim seq=V [PT-WORKLOAD]")
    done = pantile("simulate", net, *M8, "--dim", "batch=two", "--dim", "seq")
    assert_refused(
        done,
        "dimension 'batch' must be an integer, got 'two'; write a whole number from 0 to 2147483647 [PT-WORKLOAD]",
        "expected NAME=SIZE, got 'seq'; write --dim batch=8 [PT-WORKLOAD]",
    )


def test_a_node_that_is_not_there(pantile: Pantile, mlp: str) -> None:
    problem = "there is no node 'sideways'; its first products are 'up', 'down'"
    assert_refused(pantile("simulate", f"{mlp}#sideways", *M8), f"{mlp}: {problem} [PT-WORKLOAD]")


def test_a_network_without_a_product(pantile: Pantile, onnx_file: WriteOnnx) -> None:
    net = onnx_file([("Relu", "relu", ["x"], "y")], {"x": [8, 8]})
    assert pantile("plan", net, *M8).out == "relu: outside the model: Relu is no product\n"
    line = "no node of net is inside the model (relu: Relu is no product) [PT-OUTSIDE]"
    for verb in ("lower", "check", "simulate"):
        assert_refused(pantile(verb, net, *M8), line)


def test_every_bad_cell_of_a_table_by_line_and_column(pantile: Pantile) -> None:
    Path("bad.csv").write_text("m,n,k\n16,x,16\n8,8,8\n32,16,0\n")
    assert_refused(
        pantile("simulate", "bad.csv", *M8),
        "bad.csv:2:2: n must be an integer, got 'x'; write a whole number from 1 to 2147483647 [PT-WORKLOAD]",
        "bad.csv:4:3: k must be at least 1, got 0 [PT-WORKLOAD]",
    )


def test_every_row_without_a_plan_of_a_table(pantile: Pantile) -> None:
    Path("table.csv").write_text("m,n,k,dtype\n8,8,8,int4\n8,8,8,int8\n8,8,8,int4\n")
    problem = "elements of 4 bits; a systolic machine has whole bytes; name a type of 8 bits or more"
    assert_refused(
        pantile("plan", "table.csv", *M8),
        f"table.csv:2: {problem} [PT-OUTSIDE]",
        f"table.csv:4: {problem} [PT-OUTSIDE]",
    )


FOLDERS = {
    "net.onnx": "net.onnx: expected a file, got a directory",
    "net.csv": "net.csv: expected a file, got a directory",
    "net.json": "net.json: expected a file, got a directory",
}


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(name: str, pantile: Pantile) -> None:
    Path(name).mkdir()
    assert_refused(pantile("simulate", name, *M8), f"{FOLDERS[name]} [PT-WORKLOAD]")


def test_binary_files(pantile: Pantile) -> None:
    content = bytes(range(256)) * 8
    for name in ("net.csv", "net.json", "net.onnx", "net.mapping", "machine.json", "machine.toml"):
        Path(name).write_bytes(content)
    commands = [
        *(("simulate", name, *M8) for name in ("net.csv", "net.json", "net.onnx")),
        ("simulate", *SEED, "--mapping", "net.mapping"),
        *(("simulate", SEED[0], "-m", name) for name in ("machine.json", "machine.toml")),
    ]
    for command in commands:
        done = pantile(*command)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), command
        name = next(word for word in command if "." in word)
        assert name in done.err
        assert "text" in done.err or "ONNX" in done.err


@pytest.mark.parametrize("verb", [("lower",), ("simulate", "--trace", "t")], ids=lambda each: each[0])
def test_a_core_that_is_not_there(verb: tuple[str, ...], pantile: Pantile) -> None:
    line = "there is no core 1; systolic-ws-8x8 has core 0 only [PT-USAGE]"
    assert_refused(pantile(*verb, *SEED, "--core", "1"), line)
    line = "there is no core 4; systolic-ws-8x8-c4 has cores 0 to 3 [PT-USAGE]"
    assert_refused(pantile(*verb, SEED[0], "-m", "systolic-ws-8x8-c4", "--core", "4"), line)
    line = "--core: expected the number of a core, got '-1' [PT-USAGE]"
    assert_refused(pantile(*verb, *SEED, "--core", "-1"), line)


def test_a_core_without_a_trace(pantile: Pantile) -> None:
    line = "--core: it chooses what --trace draws, got no --trace; add --trace FILE, or leave --core out"
    assert_refused(pantile("simulate", *SEED, "--core", "0"), f"{line} [PT-USAGE]")


@pytest.mark.parametrize("verb", [("lower",), ("view", "-o", "page.html")], ids=lambda each: each[0])
def test_windows(verb: tuple[str, ...], pantile: Pantile) -> None:
    for window, line in {
        "5": "--window: expected A:B with A before B, got '5'; write --window 0:100",
        "a:b": "--window: expected A:B with A before B, got 'a:b'; write --window 0:100",
        "9:3": "--window: no operation is in '9:3'; put A below B",
        "152:160": "--window: the program has operations 0 to 151, got a window from 152; put the window inside",
    }.items():
        assert_refused(pantile(*verb, *SEED, "--window", window), f"{line} [PT-USAGE]")


LARGE = ("gemm:m=512,n=1024,k=512", *M8)


def test_more_operations_than_a_listing_holds(pantile: Pantile) -> None:
    count = pantile("lower", *LARGE, "--json").object["operation_count"]
    mend = "add --window 0:100000, or another range of that length"
    line = f"{LARGE[0]}: {count} operations, a listing holds at most 100000; {mend} [PT-USAGE]"
    assert_refused(pantile("lower", *LARGE, "--text"), line)
    line = "--window: 100001 operations, a listing holds at most 100000; write --window 7:100007 [PT-USAGE]"
    for form in ("--text", "--json"):
        assert_refused(pantile("lower", *LARGE, form, "--window", "7:100008"), line)


def test_more_operations_than_a_page_holds_name_the_window(pantile: Pantile) -> None:
    done = pantile("view", *LARGE, "-o", "page.html")
    assert (done.code, done.out) == (2, "")
    assert "operations, a page shows at most 10000; add --window 0:10000" in done.err
    line = "--window: 10001 operations, a page holds at most 10000; write --window 7:10007 [PT-USAGE]"
    assert_refused(pantile("view", *LARGE, "-o", "page.html", "--window", "7:10008"), line)
    assert not Path("page.html").exists()


def test_pages_of_what_is_no_single_product(pantile: Pantile, mlp: str, onnx_file: WriteOnnx) -> None:
    conv = onnx_file(
        [("Conv", "conv", ["p", "w"], "q", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})],
        {"p": [1, 8, 8, 8]},
        {"w": [16, 8, 3, 3]},
    )
    Path("table.csv").write_text("m,n,k\n8,8,8\n16,8,8\n")
    several = "a page shows one product, got 2; name a single one, such as FILE.onnx#NODE [PT-USAGE]"
    for workload in (mlp, "table.csv"):
        assert_refused(pantile("view", workload, *M8, "-o", "page.html"), several)
    line = f"{conv}#conv: pages show products only, got a convolution; use lower --text [PT-OUTSIDE]"
    assert_refused(pantile("view", f"{conv}#conv", *M8, "-o", "page.html"), line)


def test_a_trace_of_several_runs(pantile: Pantile) -> None:
    Path("table.csv").write_text("m,n,k\n8,8,8\n16,8,8\n")
    line = "a trace holds one run, got 2; name one workload [PT-USAGE]"
    assert_refused(pantile("simulate", "table.csv", *M8, "--trace", "t"), line)
