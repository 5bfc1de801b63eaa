// Each engine over time, where the program names no matrices: what ran, and what the selected operation waited for.

const LANE = { left: 76, right: 12, top: 6, height: 28, bottom: 24 };
const NEIGHBOURS = 150; // operations to either side of the selected one that a long program is drawn with
let drawnLanes = null; // what is on the screen, for the pointer

/** When an operation was issued, started and finished; in an order without times each takes one step. */
function laneTimes(op) {
  const { issue_cycle: issue, start_cycle: start, finish_cycle: finish } = page.tables.operations;
  return model.timed ? { issue: issue[op], start: start[op], finish: finish[op] } : { issue: op, start: op, finish: op + 1 };
}

/** The first and last row to draw, and the cycles that they take up. */
function laneSpan() {
  const whole = model.count <= 2 * NEIGHBOURS;
  const first = whole ? 0 : Math.max(0, view.op - NEIGHBOURS);
  const last = whole ? model.count - 1 : Math.min(model.count - 1, view.op + NEIGHBOURS);
  let low = whole && !page.head.window ? 0 : Math.max(0, laneTimes(first).issue);
  let high = low + 1;
  for (let op = first; op <= last; op += 1) {
    const { issue, finish } = laneTimes(op);
    if (issue >= 0) low = Math.min(low, issue);
    high = Math.max(high, finish);
  }
  return { first, last, low, high };
}

function drawLanes(node, canvas, moment) {
  const { engines } = page.head;
  const width = Math.max(300, node.clientWidth);
  const height = LANE.top + engines.length * LANE.height + LANE.bottom;
  node.style.height = `${height}px`;
  const span = laneSpan();
  const scale = (width - LANE.left - LANE.right) / (span.high - span.low);
  drawnLanes = { ...span, scale, at: (cycle) => LANE.left + (cycle - span.low) * scale };
  const pen = penFor(canvas, width, height);
  engines.forEach((engine, lane) => drawLane(pen, engine, lane, width));
  for (let op = span.first; op <= span.last; op += 1) drawBar(pen, op);
  drawWait(pen, view.op);
  drawBar(pen, view.op);
  drawCycles(pen, moment, engines.length);
  node.setAttribute("aria-label", laneWords(moment));
}

function laneTop(lane) {
  return LANE.top + lane * LANE.height;
}

function drawLane(pen, engine, lane, width) {
  pen.font = TEXT;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.fillStyle = palette.ink;
  pen.fillText(engine.name, LANE.left - 8, laneTop(lane) + LANE.height / 2, LANE.left - 12);
  pen.fillStyle = palette.line;
  pen.fillRect(LANE.left, laneTop(lane) + LANE.height - 1, width - LANE.left - LANE.right, 1);
}

const BAR_STATES = ["resident", "inuse", "done"]; // the colours of loads, computations and stores

/** An operation that takes time is a bar, any other a stroke. */
function drawBar(pen, op) {
  const { kind, engine } = page.tables.operations;
  const { start, finish } = laneTimes(op);
  if (start < 0) return;
  const [x, y] = [drawnLanes.at(start), laneTop(engine[op])];
  const width = (Math.max(start, finish) - start) * drawnLanes.scale;
  const state = BAR_STATES[kind[op]];
  if (width > 0 && state) paintBlock(pen, [x, y + 4, Math.max(1, width), LANE.height - 9], state, 1);
  else {
    pen.fillStyle = palette.soft;
    pen.fillRect(x, y + 9, 1, LANE.height - 19);
  }
  if (op !== view.op) return;
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 2.5;
  pen.strokeRect(x - 1.5, y + 2.5, Math.max(3, width + 3), LANE.height - 6);
}

/** From when its turn came until it started, or to the end where it never did. */
function drawWait(pen, op) {
  const { issue, start } = laneTimes(op);
  const until = start < 0 ? drawnLanes.high : start;
  if (issue < 0 || until <= issue) return;
  const x = drawnLanes.at(issue);
  pen.fillStyle = palette.hatches.writing;
  pen.fillRect(x, laneTop(page.tables.operations.engine[op]) + LANE.height / 2 - 3, drawnLanes.at(until) - x, 6);
}

function drawCycles(pen, moment, lanes) {
  const { low, high, at } = drawnLanes;
  pen.font = SMALL;
  pen.fillStyle = palette.soft;
  pen.textBaseline = "top";
  for (const [cycle, align] of [[low, "left"], [high, "right"]]) {
    pen.textAlign = align;
    pen.fillText(spaced(cycle), at(cycle), laneTop(lanes) + 6);
  }
  if (moment.place.by !== "cycle" || moment.place.t < low || moment.place.t > high) return;
  pen.fillStyle = palette.accent;
  pen.fillRect(at(moment.place.t), LANE.top, 1.5, lanes * LANE.height);
}

/** What every engine has under way, for those who do not see the picture. */
function laneWords(moment) {
  const { engines, opcodes } = page.head;
  const { operations } = page.tables;
  const busy = engines.map(() => []);
  moment.phases.forEach((phase, op) => {
    const { start } = laneTimes(op);
    const waits = moment.place.by === "cycle" && start > moment.place.t;
    if (phase === 1 && start >= 0 && !waits) busy[operations.engine[op]].push(opcodes[operations.opcode[op]]);
  });
  return engines.map((engine, lane) => tr("steps.picture", { what: engine.name, states: busy[lane].join(", ") || "-" })).join("; ");
}

/** Select what runs on a lane at the place clicked on, or what ran there last before. */
function clickLane(event) {
  const box = event.currentTarget.getBoundingClientRect();
  const lane = Math.floor((event.clientY - box.top - LANE.top) / LANE.height);
  const cycle = drawnLanes.low + (event.clientX - box.left - LANE.left) / drawnLanes.scale;
  const begun = (model.byEngine.get(lane) || []).filter((op) => laneTimes(op).start >= 0 && laneTimes(op).start <= cycle);
  const op = begun.findLast((each) => laneTimes(each).finish > cycle) ?? begun.at(-1);
  if (op !== undefined) change({ op }, "push");
}
