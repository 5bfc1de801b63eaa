// The Steps screen: list, matrices and memories at one moment, and what changed since the last one.

let lastMoment = null;
let hovered = -1;

function buildSteps() {
  if (!model.count) return fill(byId("steps"), el("p", { class: "empty" }, tr("steps.empty")));
  lastMoment = null;
  return fill(byId("steps"),
    el("h2", { class: "unseen" }, tr("screen.steps")),
    view.w ? orderBanner() : "",
    el("section", { class: "pane pane-list", "aria-label": tr("steps.list") },
      el("h3", { id: "list-title" }), buildList()),
    hasMatrices() ? matricesPane() : lanesPane(),
    el("section", { class: "pane pane-memories", "aria-label": tr("steps.memories") },
      el("h3", null, tr("steps.memories")), el("div", { id: "memories" })));
}

/** Says that this is not the run, whose order it is, and leads back. */
function orderBanner() {
  const finding = page.head.findings[page.head.orders[view.w - 1]];
  return el("div", { id: "order", class: "notice" },
    el("span", null, tr("steps.order", { code: finding.code, sentence: lettered(finding.sentence) })), " ",
    button(tr("steps.order.leave"), leaveOrder));
}

function matricesPane() {
  return el("section", { class: "pane pane-picture", "aria-label": tr("steps.matrices") },
    el("h3", { id: "equation" }),
    el("div", { class: "framed" },
      el("div", { id: "matrices", role: "img", on: { pointermove: hover, pointerleave: unhover, click: clickBlock } },
        el("canvas", { id: "picture" }), el("canvas", { id: "flash", "aria-hidden": "true" })),
      el("ul", { id: "legend", class: "legend", "aria-label": tr("steps.legend") })),
    el("p", { id: "under", class: "soft small" }));
}

function lanesPane() {
  return el("section", { class: "pane pane-picture", "aria-label": tr("steps.lanes") },
    el("h3", { id: "equation", class: "mono" }),
    el("div", { id: "lanes", role: "img", on: { click: clickLane } }, el("canvas", { id: "lane-picture" })),
    el("p", { id: "under", class: "soft small" }));
}

/** Draw the screen; `quiet` for anything but a step of the user, which flashes what it changed. */
function drawSteps(before, quiet) {
  if (!model.count) return;
  const moment = momentAt(placeOf(view));
  const moved = quiet || before.op !== view.op || before.s !== view.s || before.by !== view.by || cycleOf(before) !== cycleOf(view);
  const flashes = moved && !quiet && lastMoment !== null && before.s === view.s && !(player.playing && view.sp > 8);
  const changedBlocks = flashes ? differing(lastMoment.blockState, moment.blockState) : [];
  const changedEntries = new Set(flashes ? differing(lastMoment.entryState, moment.entryState) : []);
  fill(byId("list-title"), tr("steps.list"), " ", el("span", { class: "soft" }, tileLine()));
  drawList(moment, moved);
  if (hasMatrices()) drawPicture(moment, changedBlocks);
  else {
    fill(byId("equation"), statementOf(view.op));
    drawLanes(byId("lanes"), byId("lane-picture"), moment);
    const words = { low: drawnLanes.low, high: drawnLanes.high };
    fill(byId("under"), tr(model.timed ? "steps.lanes.none" : "steps.lanes.steps", words));
  }
  drawMemories(byId("memories"), moment, changedEntries);
  lastMoment = moment;
}

function drawPicture(moment, changedBlocks) {
  fill(byId("equation"), equation(view.op));
  const geometry = drawMatrices(byId("picture"), byId("flash"), moment, changedBlocks);
  const held = byId("matrices");
  held.style.height = `${geometry.height}px`;
  placeLegend(geometry);
  held.setAttribute("aria-label", pictureWords(moment));
  drawUnder();
  fill(byId("legend"), legend(moment));
}

function differing(before, after) {
  const rows = [];
  for (let row = 0; row < after.length; row += 1) if (before[row] !== after[row]) rows.push(row);
  return rows;
}

function tileLine() {
  const { operations, tiles } = page.tables;
  const tile = operations.tile[view.op];
  if (tile < 0) return "";
  const cores = page.head.engines.some((engine) => engine.core > 0);
  return `${tr("steps.tile", { path: pathOf(tile) })}${cores ? ` · ${tr("steps.core", { core: tiles.core[tile] })}` : ""}`;
}

/** The selected operation as a formula, with its place in the reduction. */
function equation(op) {
  const { operations } = page.tables;
  const kind = page.head.kinds[operations.kind[op]];
  if (operations.kind[op] !== COMPUTE) {
    const operand = operations.operand[op];
    return [el("span", { class: "formula" }, tr(`kind.${kind}`), " ", operand ? regionWords(operand, operations, op) : "")];
  }
  const term = (operand) => el("span", { class: "term" }, regionWords(operand, operations, op));
  const formula = el("span", { class: "formula" }, term(OUTPUT), " += ", term(LEFT), " · ", term(RIGHT));
  const count = operations.stage_count[op];
  const stage = count ? el("span", { class: "soft stage" }, tr("steps.stage", { at: operations.stage[op] + 1, count })) : "";
  return [formula, " ", stage];
}

/** How many blocks of each matrix are in each state. */
function census(moment) {
  const { blocks } = page.tables;
  const counts = STATES.map(() => [0, 0, 0, 0]);
  for (let block = 0; block < blocks.rows; block += 1) counts[moment.blockState[block]][blocks.operand[block]] += 1;
  return counts;
}

const LEGEND = ["none", "loading", "resident", "inuse", "partial", "done", "writing", "written", "released"];

function legend(moment) {
  const counts = census(moment);
  return LEGEND.map((state) => {
    const parts = [LEFT, RIGHT, OUTPUT]
      .filter((operand) => counts[STATE[state]][operand])
      .map((operand) => `${operandName(operand)} ${counts[STATE[state]][operand]}`);
    return el("li", { class: parts.length ? "" : "absent" }, swatch(state), ` ${tr(`state.${state}`)} `,
      el("span", { class: "soft" }, parts.join(" · ")));
  });
}

/** The legend stands in the free corner above A, or left of A, where that is large enough, else below. */
function placeLegend(geometry) {
  const above = [geometry.place[OUTPUT].x - MARGIN.gap, geometry.place[LEFT].y - MARGIN.gap];
  const beside = geometry.place[LEFT].x - MARGIN.left;
  const fits = (above[0] >= 215 && above[1] >= 175) || (beside >= 215 && geometry.height >= 200);
  byId("legend").classList.toggle("in-corner", fits);
}

function pictureWords(moment) {
  const counts = census(moment);
  const matrices = [LEFT, RIGHT, OUTPUT].map((operand) => {
    const states = LEGEND.filter((state) => counts[STATE[state]][operand])
      .map((state) => `${counts[STATE[state]][operand]} ${tr(`state.${state}`)}`);
    return tr("steps.picture", { what: operandName(operand), states: states.join(", ") || "-" });
  });
  return matrices.join("; ");
}

/** The line below the picture: the block under the pointer, or how to read the outlines. */
function drawUnder() {
  const { blocks, operations, tiles } = page.tables;
  const parts = [];
  if (hovered >= 0 && hovered < blocks.rows) {
    const operand = blocks.operand[hovered];
    const words = stateWords(lastOrNow().blockState[hovered], operand === OUTPUT ? hovered : -1, lastOrNow());
    parts.push(`${tr("steps.under")}: ${regionWords(operand, blocks, hovered)}, ${words}`);
  } else {
    const tile = operations.tile[view.op];
    const clipped = tile >= 0 && AXES.some((axis) => tiles[`${axis}_nominal`][tile] > tiles[`${axis}_size`][tile]);
    if (clipped) parts.push(tr("steps.nominal"));
    if (page.head.extents.b > 1) parts.push(tr("steps.batch", { at: shownBatch() + 1, count: page.head.extents.b }));
    if (!drawnMatrices.geometry.true) parts.push(tr("steps.unscaled"));
  }
  fill(byId("under"), parts.join(" · ") || "\u00a0");
}

function lastOrNow() {
  return drawnMatrices.moment;
}

function hover(event) {
  const box = event.currentTarget.getBoundingClientRect();
  const block = blockAt(event.clientX - box.left, event.clientY - box.top);
  if (block === hovered) return;
  hovered = block;
  drawUnder();
}

function unhover() {
  hovered = -1;
  drawUnder();
}

/** Select the next operation that touches the block clicked on. */
function clickBlock(event) {
  const box = event.currentTarget.getBoundingClientRect();
  const block = blockAt(event.clientX - box.left, event.clientY - box.top);
  if (block >= 0) gotoTouching(touchesOfBlock(block));
}

function touchesOfBlock(block) {
  const { entries, touches } = page.tables;
  const rows = [];
  for (let row = 0; row < touches.rows; row += 1) if (entries.block[touches.entry[row]] === block) rows.push(row);
  return rows;
}
