// The inspector: every figure of what is selected, in words.

function drawInspector() {
  const node = byId("inspector");
  node.setAttribute("aria-label", tr("inspector"));
  const factor = selectedFactor();
  if (factor) return fill(node, factorCard(factor));
  if (!model.count) return fill(node);
  return fill(node, operationCard(view.op), tileCard(page.tables.operations.tile[view.op]));
}

/** Pairs as a definition list; pairs without a value are left out. */
function definitions(pairs) {
  const shown = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return el("dl", null, shown.map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));
}

function operationCard(op) {
  const { operations } = page.tables;
  const kind = page.head.kinds[operations.kind[op]];
  const engine = page.head.engines[operations.engine[op]];
  const count = operations.stage_count[op];
  return el("section", { class: "card" },
    el("h3", null, tr("inspector.operation", { number: numberOf(op) })),
    definitions([
      [tr("inspector.opcode"), page.head.opcodes[operations.opcode[op]]],
      [tr("inspector.text"), statementOf(op) && el("span", { class: "mono" }, statementOf(op))],
      [tr("inspector.kind"), tr(`kind.${kind}`)],
      [tr("inspector.engine"), `${engine.name}, ${tr("steps.core", { core: engine.core })}`],
      [tr("inspector.box"), operationRegion(op)],
      [tr("inspector.bytes"), operations.bytes[op] ? number(operations.bytes[op]) : ""],
      [tr("inspector.macs"), operations.macs[op] ? number(operations.macs[op]) : ""],
      [tr("inspector.stage"), count ? tr("steps.of", { at: operations.stage[op] + 1, count }) : ""],
      ...(hasMatrices() ? touchPairs(op) : rangePairs(op)),
      [tr("inspector.waits"), operations.waits[op] < 0 ? "" : lettered(page.head.waits[operations.waits[op]])],
      [tr("inspector.posts"), operations.posts[op] < 0 ? "" : lettered(page.head.posts[operations.posts[op]])],
      ...timePairs(op),
      [tr("inspector.source"), sourceOf(op)],
      [tr("inspector.index"), number(listedOf(op))],
    ]));
}

/** The bytes that an operation touches where they are of no matrix. */
function rangePairs(op) {
  return touchedRanges(op).map((range) => [tr(TOUCH_WORDS[range.mode]),
    [`${page.head.memories[range.memory].name} ${byteWords(range.lo, range.length)}`, el("div", { class: "soft" }, number(range.length), " B")]]);
}

function touchPairs(op) {
  const { touches, entries } = page.tables;
  return (model.touchesOf.get(op) || []).map((row) => {
    const entry = touches.entry[row];
    const region = regionWords(entries.operand[entry], entries, entry);
    const count = entries.granules[entry];
    const granule = page.head.memories[entries.memory[entry]].granule_bytes;
    const size = count ? [tr("steps.granules", { count, size: granule }), " = ", number(footprint(entry)), " B"] : "";
    return [tr(TOUCH_WORDS[touches.mode[row]]),
      [el("div", null, region), el("div", { class: "soft mono" }, entryPlace(entry)), size ? el("div", { class: "soft" }, size) : ""]];
  });
}

function timePairs(op) {
  const ops = page.tables.operations;
  const [issue, start, finish] = [ops.issue_cycle[op], ops.start_cycle[op], ops.finish_cycle[op]];
  const cause = ops.cause[op] < 0 ? "" : lettered(page.head.causes[ops.cause[op]]);
  const follow = ops.releaser[op] >= 0 ? button(tr("inspector.follow"), followRelease, { class: "link" }) : "";
  if (issue < 0) return [];
  return [
    [tr("inspector.issue"), number(issue)],
    [tr("inspector.start"), start < 0 ? "" : number(start)],
    [tr("inspector.finish"), finish < 0 ? "" : number(finish)],
    [tr("inspector.lasted"), start < 0 || finish < 0 ? "" : number(finish - start)],
    [tr("inspector.waited"), start > issue ? number(start - issue) : ""],
    [tr("inspector.cause"), cause || follow ? [cause, " ", follow] : ""],
  ];
}

function tileCard(tile) {
  if (tile < 0) return "";
  const { tiles } = page.tables;
  const ops = model.byTile.get(tile);
  const clipped = AXES.some((axis) => tiles[`${axis}_nominal`][tile] !== tiles[`${axis}_size`][tile]);
  const times = tiles.issue_cycle[tile] < 0 ? "" : `${tiles.issue_cycle[tile]} → ${tiles.finish_cycle[tile] < 0 ? "…" : tiles.finish_cycle[tile]}`;
  return el("section", { class: "card" },
    el("h3", null, tr("inspector.tile.title", { path: pathOf(tile) })),
    definitions([
      [tr("inspector.box"), boxWords(tiles, tile)],
      [tr("inspector.actual"), sizeWords(tile, "size")],
      [tr("inspector.nominal"), clipped ? sizeWords(tile, "nominal") : ""],
      [tr("inspector.core"), number(tiles.core[tile])],
      [tr("inspector.slots"), slotsWords(tile)],
      [tr("inspector.operations"), `${numberOf(ops[0])} – ${numberOf(ops.at(-1))} (${ops.length})`],
      [tr("inspector.times"), times],
    ]));
}

function slotsWords(tile) {
  const { bindings } = page.tables;
  const rows = model.bindingsOf.get(tile) || [];
  if (!rows.length) return "";
  return rows.map((row) => el("div", null, `${page.head.memories[bindings.memory[row]].name}[${bindings.slot[row]}]`,
    bindings.keeps[row] ? el("span", { class: "soft" }, ` ${tr("inspector.keeps")}`) : ""));
}

/** The factor that the address names as figure.factor, or null. */
function selectedFactor() {
  const [figure, factor] = view.f.split(".").map(Number);
  return view.f ? page.head.figures[figure]?.factors[factor] ?? null : null;
}

function factorCard(factor) {
  const axis = factor.axis ? letter(factor.axis) : lettered(factor.noun);
  const pieces = factor.pieces.map(([start, stop]) => {
    const op = firstOperationIn(factor.axis, start, stop);
    const go = op < 0 ? "" : button(tr("inspector.factor.go"), () => change({ op, s: "steps", f: "" }, "push"), { class: "link" });
    return el("li", null, el("span", { class: "mono" }, `${axis} ${start}:${stop}`), " ", go);
  });
  return el("section", { class: "card" },
    el("h3", null, `${factor.count} ${axis}`),
    factor.axis ? el("p", { class: "soft" }, `${axis}: ${tr(`axis.${factor.axis}`)}`) : "",
    factor.sentence ? el("p", null, lettered(factor.sentence)) : "",
    pieces.length ? [el("h4", null, tr("inspector.factor.pieces", { axis })), el("ul", { class: "pieces" }, pieces)] : "",
    el("p", null, button(tr("inspector.factor.close"), () => change({ f: "" }))));
}

/** The first operation that works inside [start, stop) of an axis, or -1. */
function firstOperationIn(axis, start, stop) {
  const { operations } = page.tables;
  for (let op = 0; axis && op < model.count; op += 1) {
    const low = operations[`${axis}_start`][op];
    const size = operations[`${axis}_size`][op];
    if (size > 0 && low >= start && low < stop) return op;
  }
  return -1;
}
