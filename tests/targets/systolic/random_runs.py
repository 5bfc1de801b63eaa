"""Random runs for comparing the two forms of the exact simulation: machines and layers, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from pantile.program.program import Program
from pantile.targets.systolic.allocate import tensor_addresses
from pantile.targets.systolic.config import CHANNEL_COUNTS, SystolicConfig
from pantile.targets.systolic.lower import lower
from pantile.tiling.plan import Plan
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor


@dataclass(frozen=True)
class RandomRun:
    """Layers in execution order (an integer is that many skip tiles), and the machine they run on."""

    layers: tuple[Program | int, ...]
    config: SystolicConfig


def random_run(seed: int) -> RandomRun:
    """Return a run that depends on *seed* alone; most fit their memories and finish, some do not."""
    random = Random(seed)
    config = _machine(random)
    alike = len({*config.heights, *config.widths}) == 1  # other arrays are outside the fixed model
    semantics = "fixed" if alike and random.random() < 0.4 else "faithful"
    layers = tuple(_layer(random, config, semantics, at) for at in range(random.choice((1, 1, 2, 3))))
    return RandomRun(layers, config)


def _machine(random: Random) -> SystolicConfig:
    cores = random.choice((1, 1, 2, 3, 4, 5))
    side = random.choice((1, 2, 3, 4, 4, 5, 8, 8, 16))
    mixed = random.random() < 0.2
    heights = tuple(random.choice((2, 3, 4, 8, 16)) if mixed and at else side for at in range(cores))
    widths = tuple(h if random.random() < 0.8 else random.choice((2, 4, 8)) for h in heights)
    core_mhz, dram_mhz, noc_mhz = random.choices((200, 333, 400, 500, 700, 941, 1000, 1200, 1300, 2000), k=3)
    if random.random() < 0.4:
        # Many ports and a fast DRAM let tiles overtake one another.
        ports, dram_latency = random.choice((1, 2, 4, 8, 16, 20)), random.choice((0, 0, 1, 3))
        noc_latency = random.choice((0, 0, 1, 2))
    else:
        ports = random.choice((1, 1, 2, random.randint(1, 20)))
        dram_latency = random.choice((0, 1, 5, 10, random.randint(0, 100)))
        noc_latency = random.choice((0, 1, 1, 3, random.randint(0, 100)))
    tight = random.random() < 0.08
    pads, sums = ((2, 4), (1, 2)) if tight else ((256,), (256,))
    return SystolicConfig(
        name="random",
        cores=cores,
        heights=heights,
        widths=widths,
        scratchpad_bytes=tuple(random.choice(pads) << 10 for _ in range(cores)),
        accumulator_bytes=tuple(random.choice(sums) << 10 for _ in range(cores)),
        request_bytes=random.choice((8, 16, 32, 32, 64, 24)),
        channels=random.choice((1, 2, 2, 3, 4, 8, 16, *CHANNEL_COUNTS)),
        ports=ports,
        dram_latency=dram_latency,
        noc_latency=noc_latency,
        precision=random.choice((1, 1, 2, 4, 3)),
        core_hz=core_mhz * 1_000_000,
        dram_hz=dram_mhz * 1_000_000,
        noc_hz=noc_mhz * 1_000_000,
        core_types=("systolic_ws",) * cores,
        dram_type="simple",
        noc_type="simple",
        scheduler="simple",
        layout=random.choice(("NHWC", "NCHW")),
    )


def _layer(random: Random, config: SystolicConfig, semantics: str, at: int) -> Program | int:
    draw = random.random()
    if at and draw < 0.12:
        return random.randint(1, 7)
    return _convolution(random, config, semantics) if draw < 0.35 else _product(random, config, semantics)


def _product(random: Random, config: SystolicConfig, semantics: str) -> Program:
    batch = random.choice((1, 1, 1, 2, 3))
    side = config.heights[0]
    most = min(40, 5 * side)  # keeps the computes few
    m, n, k = (random.choice((1, side, 2 * side, most, random.randint(1, most))) for _ in range(3))
    transposed = semantics == "fixed" and random.random() < 0.3
    has_bias = random.random() < 0.4
    named = has_bias and random.random() < 0.7
    shared = batch > 1 and random.random() < 0.4
    matmul = Matmul(
        m=m,
        n=n,
        k=k,
        a_batch=(batch,) if batch > 1 else (),
        b_batch=(batch,) if batch > 1 and not shared else (),
        transpose_a=transposed,
    )
    b_dims = (k, n) if batch == 1 or shared else (batch, k, n)
    lead = (batch,) if batch > 1 else ()
    tensors = [Tensor("b", b_dims, "initializer")]
    if named:
        tensors.append(Tensor("bias", (n,), "initializer"))
    # A row of the tensor that is shorter or longer than the product's is what quirk Q12 comes to.
    row = k if random.random() < 0.9 else max(1, k + random.randint(-5, 5))
    tensors.append(Tensor("a", (*lead, k, m) if transposed else (*lead, m, row), "input"))
    tensors.append(Tensor("c", (*lead, m, n), "intermediate"))
    inputs = ("a", "b", "bias") if named else ("a", "b")
    node = Node(name="product", op_type="Gemm", inputs=inputs, outputs=("c",), computation=matmul)
    total = {"N": m, "C": k, "M": n}
    inner = {letter: _inner(random, count, side) for letter, count in total.items()}
    outer = {letter: _outer(random, total[letter], inner[letter], letter) for letter in total}
    parameters = {"kind": "gemm", "has_bias": has_bias, "batch": batch}
    return _lowered(node, tensors, parameters, (total, outer, inner), config, semantics)


def _convolution(random: Random, config: SystolicConfig, semantics: str) -> Program:
    conv = Convolution(
        batch=random.choice((1, 1, 2)),
        in_channels=random.choice((1, 3, 8, 12)),
        out_channels=random.choice((2, 5, 8, 12)),
        height=random.randint(3, 7),
        width=random.randint(5, 7),
        kernel=(random.choice((1, 2, 3)), random.choice((1, 2, 3))),
        strides=(random.choice((1, 2)), random.choice((1, 1, 2, 3))),
        pads=(
            random.choice((0, 1)),
            random.choice((0, 1, 2)),
            random.choice((0, 1)),
            random.choice((0, 1, 2)),
        ),
        dilations=(1, random.choice((1, 1, 2))) if random.random() < 0.8 else (1, 1),
    )
    (q, p), (s, r) = (conv.out_height, conv.out_width), conv.kernel
    total = dict(zip("NCMSRQP", (conv.batch, conv.in_channels, conv.out_channels, s, r, q, p), strict=True))
    inner = {
        letter: random.choice((count, -(-count // 2), random.randint(1, count)))
        for letter, count in total.items()
    }
    if random.random() < 0.6:
        inner["S"], inner["R"] = s, r
    outer = {letter: -(-count // inner[letter]) for letter, count in total.items()}
    if semantics == "faithful" and random.random() < 0.1:
        outer[random.choice("NCMQP")] += 1
    picture, result = (
        (conv.batch, conv.in_channels, conv.height, conv.width),
        (conv.batch, conv.out_channels, q, p),
    )
    tensors = [
        Tensor("w", (conv.out_channels, conv.in_channels, s, r), "initializer"),
        Tensor("x", picture, "input"),
        Tensor("y", result, "intermediate"),
    ]
    node = Node(name="conv", op_type="Conv", inputs=("x", "w"), outputs=("y",), computation=conv)
    return _lowered(node, tensors, {"kind": "conv"}, (total, outer, inner), config, semantics)


def _inner(random: Random, count: int, side: int) -> int:
    padded = -(-count // side) * side
    return random.choice((padded, side, 2 * side, max(1, count // 2), random.randint(1, padded)))


def _outer(random: Random, count: int, inner: int, letter: str) -> int:
    tiles = -(-count // inner)
    # One tile too many (a surplus row tile never ends), or one too few.
    if random.random() < (0.01 if letter == "N" else 0.1):
        return tiles + 1
    return tiles - 1 if tiles > 1 and random.random() < 0.04 else tiles


def _lowered(
    node: Node,
    tensors: list[Tensor],
    parameters: dict[str, object],
    counts: tuple[dict[str, int], ...],
    config: SystolicConfig,
    semantics: str,
) -> Program:
    total, outer, inner = counts
    network = Network(name="random", nodes=(node,), tensors=tuple(tensors))
    addresses = tensor_addresses(network, config.precision, wrap=semantics == "faithful")
    plan = Plan(
        planner="onnxim",
        semantics=semantics,
        parameters={**parameters, "total": total, "outer": outer, "inner": inner},
    )
    return lower(node, plan, network, addresses, config)
