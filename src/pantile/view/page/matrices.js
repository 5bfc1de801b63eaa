// The three matrices at one scale: B above C shares its columns, A left of C shares its rows.

const MARGIN = { left: 50, top: 38, right: 10, bottom: 24, gap: 44 };
const TEXT = "12px system-ui, sans-serif";
const SMALL = "11px system-ui, sans-serif";
let drawnMatrices = null; // geometry and moment of the picture on the screen, for pointer and flash

/** Lengths to draw: in proportion, unless one axis is over eight times another. */
function drawnLengths() {
  const { m, n, k } = page.head.extents;
  const most = Math.max(m, n, k);
  const ratio = most / Math.min(m, n, k);
  const bend = ratio > 8 ? Math.log(8) / Math.log(ratio) : 1;
  const length = (extent) => (extent / most) ** bend;
  return { m: length(m), n: length(n), k: length(k), true: bend === 1 };
}

/** Where everything goes in a picture `width` wide and at most `height` high. */
function matrixGeometry(width, height) {
  const lengths = drawnLengths();
  const across = width - MARGIN.left - MARGIN.right - MARGIN.gap;
  const down = height - MARGIN.top - MARGIN.bottom - MARGIN.gap;
  const unit = Math.max(60, Math.min(across / (lengths.k + lengths.n), down / (lengths.k + lengths.m)));
  const size = { m: unit * lengths.m, n: unit * lengths.n, k: unit * lengths.k };
  const left = MARGIN.left + Math.max(0, (across - size.k - size.n) / 2);
  const right = left + size.k + MARGIN.gap;
  const low = MARGIN.top + size.k + MARGIN.gap;
  const place = {
    [LEFT]: { x: left, y: low, across: "k", down: "m" },
    [RIGHT]: { x: right, y: MARGIN.top, across: "n", down: "k" },
    [OUTPUT]: { x: right, y: low, across: "n", down: "m" },
  };
  return { size, place, true: lengths.true, width, height: low + size.m + MARGIN.bottom };
}

/** Position along an axis: [start, length] in pixels of [start, size] in elements. */
function along(geometry, axis, start, size) {
  const pixels = geometry.size[axis] / page.head.extents[axis];
  return [start * pixels, Math.min(size, page.head.extents[axis] - start) * pixels];
}

/** The rectangle of a row's box in the matrix of `operand`. */
function boxOn(geometry, operand, columns, row, suffix = "size") {
  const { x, y, across, down } = geometry.place[operand];
  const [dx, width] = along(geometry, across, columns[`${across}_start`][row], columns[`${across}_${suffix}`][row]);
  const [dy, height] = along(geometry, down, columns[`${down}_start`][row], columns[`${down}_${suffix}`][row]);
  return [x + dx, y + dy, width, height];
}

/** The batch element on show: that of the selected operation. */
function shownBatch() {
  return model.count ? page.tables.operations.b_start[view.op] : 0;
}

function inBatch(block) {
  const { blocks } = page.tables;
  const size = blocks.b_size[block];
  const batch = shownBatch();
  return size === 0 || (batch >= blocks.b_start[block] && batch < blocks.b_start[block] + size);
}

function drawMatrices(canvas, flash, moment, changed) {
  const width = Math.max(300, canvas.parentElement.clientWidth);
  const room = byId("main").clientHeight * 0.58;
  const geometry = matrixGeometry(width, Math.max(320, Math.min(640, room, width)));
  const pen = penFor(canvas, width, geometry.height);
  pen.clearRect(0, 0, width, geometry.height);
  for (const operand of [LEFT, RIGHT, OUTPUT]) drawGround(pen, geometry, operand);
  for (const block of paintedBlocks(moment)) if (inBatch(block)) drawBlock(pen, geometry, block, moment);
  for (const operand of [LEFT, RIGHT, OUTPUT]) drawTicks(pen, geometry, operand);
  if (model.count) drawSelection(pen, geometry);
  drawnMatrices = { geometry, moment };
  drawFlash(flash, geometry, changed);
  return geometry;
}

/** Blocks from the bottom to the top: dropped ones, then those that are there, large before small. */
function paintedBlocks(moment) {
  const there = (block) => moment.blockState[block] > STATE.released;
  return [...model.largeFirst.filter((block) => !there(block)), ...model.largeFirst.filter(there)];
}

/** The empty matrix with its name and its grid of tiles. */
function drawGround(pen, geometry, operand) {
  const { x, y, across, down } = geometry.place[operand];
  const [width, height] = [geometry.size[across], geometry.size[down]];
  pen.strokeStyle = palette.edge;
  pen.lineWidth = 1;
  pen.strokeRect(x - 2.5, y - 2.5, width + 5, height + 5);
  pen.fillStyle = palette.ink;
  pen.font = `600 ${TEXT}`;
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  const name = operandName(operand);
  pen.fillText(name, x - 2, y - 22);
  const shift = pen.measureText(name).width + 6;
  pen.font = SMALL;
  pen.fillStyle = palette.soft;
  const { extents } = page.head;
  pen.fillText(`${letter(down)} ${spaced(extents[down])} × ${letter(across)} ${spaced(extents[across])}`, x - 2 + shift, y - 22);
}

function drawBlock(pen, geometry, block, moment) {
  const { blocks } = page.tables;
  const box = boxOn(geometry, blocks.operand[block], blocks, block);
  const state = STATES[moment.blockState[block]];
  const { done, total } = moment.sums;
  paintBlock(pen, box, state, total[block] ? done[block] / total[block] : 0);
  const counted = blocks.operand[block] === OUTPUT && (state === "partial" || state === "inuse");
  pen.font = SMALL;
  if (counted) paintWord(pen, box, state, `${done[block]}/${total[block]}`);
  else if (state === "done" || state === "written") paintWord(pen, box, state, "✓");
}

/** Element numbers at the tile edges, as far apart as they can be read. */
function drawTicks(pen, geometry, operand) {
  const { x, y, across, down } = geometry.place[operand];
  pen.font = "10px system-ui, sans-serif";
  pen.fillStyle = palette.soft;
  pen.strokeStyle = palette.edge;
  pen.lineWidth = 1;
  let last = -Infinity;
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  for (const at of edges(across)) {
    const [pixels] = along(geometry, across, at, 0);
    line(pen, x + pixels, y - 6, x + pixels, y - 2.5);
    if (pixels - last < 24) continue;
    pen.fillText(String(at), x + pixels, y - 8);
    last = pixels;
  }
  last = -Infinity;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const at of edges(down)) {
    const [pixels] = along(geometry, down, at, 0);
    line(pen, x - 6, y + pixels, x - 2.5, y + pixels);
    if (pixels - last < 13) continue;
    pen.fillText(String(at), x - 8, y + pixels);
    last = pixels;
  }
}

function line(pen, x, y, toX, toY) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
  pen.stroke();
}

const edgesOf = new Map();

/** Where tiles begin and end along an axis, ascending. */
function edges(axis) {
  if (!edgesOf.has(axis)) {
    const { tiles } = page.tables;
    const all = new Set([0, page.head.extents[axis]]);
    for (let tile = 0; tile < tiles.rows; tile += 1) {
      all.add(tiles[`${axis}_start`][tile]).add(tiles[`${axis}_start`][tile] + tiles[`${axis}_size`][tile]);
    }
    edgesOf.set(axis, [...all].sort((one, other) => one - other));
  }
  return edgesOf.get(axis);
}

/** The selected tile (nominal dashed, actual solid) and the exact region of the operation. */
function drawSelection(pen, geometry) {
  const { operations, tiles } = page.tables;
  const tile = operations.tile[view.op];
  for (const operand of [LEFT, RIGHT, OUTPUT]) {
    if (tile < 0) break;
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 1.5;
    const actual = boxOn(geometry, operand, tiles, tile);
    const nominal = nominalBox(geometry, operand, tile);
    pen.setLineDash([4, 3]);
    if (nominal.some((side, at) => Math.abs(side - actual[at]) > 0.5)) pen.strokeRect(...grown(nominal, 1));
    pen.setLineDash([]);
    pen.strokeRect(...grown(actual, 1));
  }
  for (const operand of selectedOperands()) {
    const box = boxOn(geometry, operand, operations, view.op);
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 3;
    pen.strokeRect(...grown(box, -0.5));
  }
}

/** The matrices that the selected operation works on. */
function selectedOperands() {
  const { operations } = page.tables;
  if (operations.kind[view.op] === COMPUTE) return [LEFT, RIGHT, OUTPUT];
  const operand = operations.operand[view.op];
  return operand >= LEFT && operand <= OUTPUT ? [operand] : [];
}

/** The planned size may reach past the matrix: it is drawn past it, by at most the margin. */
function nominalBox(geometry, operand, tile) {
  const { tiles } = page.tables;
  const { x, y, across, down } = geometry.place[operand];
  const side = (axis) => {
    const pixels = geometry.size[axis] / page.head.extents[axis];
    const room = geometry.size[axis] + MARGIN.right - 3 - tiles[`${axis}_start`][tile] * pixels;
    return [tiles[`${axis}_start`][tile] * pixels, Math.min(room, tiles[`${axis}_nominal`][tile] * pixels)];
  };
  const [dx, width] = side(across);
  const [dy, height] = side(down);
  return [x + dx, y + dy, width, height];
}

function grown([x, y, width, height], by) {
  return [x - by, y - by, Math.max(1, width + 2 * by), Math.max(1, height + 2 * by)];
}

/** Outline what changed, on a layer that fades once (style.css; not under reduced motion). */
function drawFlash(canvas, geometry, changed) {
  const pen = penFor(canvas, geometry.width, geometry.height);
  pen.clearRect(0, 0, geometry.width, geometry.height);
  canvas.classList.remove("flashing");
  if (!changed.length) return;
  pen.strokeStyle = palette.flash;
  pen.lineWidth = 4;
  const { blocks } = page.tables;
  for (const block of changed) if (inBatch(block)) pen.strokeRect(...grown(boxOn(geometry, blocks.operand[block], blocks, block), 2));
  void canvas.offsetWidth; // restart the animation
  canvas.classList.add("flashing");
}

/** The block under a point of the picture, or -1. */
function blockAt(x, y) {
  const { blocks } = page.tables;
  for (const block of paintedBlocks(drawnMatrices.moment).reverse()) {
    const [left, top, width, height] = boxOn(drawnMatrices.geometry, blocks.operand[block], blocks, block);
    if (x >= left && x < left + width && y >= top && y < top + height && inBatch(block)) return block;
  }
  return -1;
}
