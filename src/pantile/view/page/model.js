// What follows from the columns and never changes: neighbours of each operation, and its entries.

/** Operation numbers count from 1 in front of people, and from the window's start. */
function numberOf(op) {
  return (page.head.window ? page.head.window.start : 0) + op + 1;
}

function rowOf(number) {
  return number - 1 - (page.head.window ? page.head.window.start : 0);
}

/** The number that --json has for an operation; it differs where rows stand in the order of a run. */
function listedOf(op) {
  const listed = page.tables.operations.listed[op];
  return listed < 0 ? numberOf(op) - 1 : listed;
}

/** The row of an operation by its number in --json, or one that the page does not hold. */
function rowOfListed(number) {
  if (!model.rowOfListed.size) return rowOf(number + 1);
  return model.rowOfListed.get(number) ?? -1;
}

function totalOperations() {
  return page.head.window ? page.head.window.total : page.tables.operations.rows;
}

const LOAD = 0;
const COMPUTE = 1;
const STORE = 2;
const READ = 0;
const WRITE = 1;
const UPDATE = 2;

/** Rows 0 … count-1 gathered by `keyOf(row)`, in order; rows with key < 0 are left out. */
function gather(count, keyOf) {
  const groups = new Map();
  for (let row = 0; row < count; row += 1) {
    const key = keyOf(row);
    if (key < 0) continue;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

function buildModel() {
  const { operations, touches, entries, bindings } = page.tables;
  const count = operations.rows;
  const touchesOf = gather(touches.rows, (row) => touches.operation[row]);
  const outputOf = new Int32Array(count).fill(-1); // the output block that an operation works on
  for (let row = 0; row < touches.rows; row += 1) {
    const block = entries.block[touches.entry[row]];
    const onOutput = entries.operand[touches.entry[row]] === OUTPUT && touches.mode[row] !== WRITE;
    if (onOutput) outputOf[touches.operation[row]] = block;
  }
  const filling = new Uint8Array(count); // whether an operation fills entries, and so moves to a memory shown
  for (let row = 0; row < touches.rows; row += 1) if (touches.mode[row] === WRITE) filling[touches.operation[row]] = 1;
  const rowOfListed = new Map();
  for (let op = 0; op < count; op += 1) if (operations.listed[op] >= 0) rowOfListed.set(operations.listed[op], op);
  const timed = count > 0 && operations.issue_cycle.some((cycle) => cycle >= 0);
  const byIssue = Array.from({ length: count }, (_, op) => op).filter((op) => operations.issue_cycle[op] >= 0);
  byIssue.sort((one, other) => operations.issue_cycle[one] - operations.issue_cycle[other] || one - other);
  const terms = page.head.terms.reduce((sum, term) => sum + Number(term.cycles), 0);
  const last = operations.finish_cycle.reduce((most, cycle) => Math.max(most, cycle), 0);
  return {
    count,
    timed,
    cycles: Math.max(terms, last),
    byIssue,
    issueRank: rankOf(byIssue, count),
    touchesOf,
    outputOf,
    filling,
    rowOfListed,
    largeFirst: largeFirst(),
    byOutput: gather(count, (op) => outputOf[op]),
    byEngine: gather(count, (op) => operations.engine[op]),
    byTile: gather(count, (op) => operations.tile[op]),
    bindingsOf: gather(bindings.rows, (row) => bindings.tile[row]),
    touchesOfEntry: gather(touches.rows, (row) => touches.entry[row]),
  };
}

/** Blocks by size, the largest first. */
function largeFirst() {
  const { blocks } = page.tables;
  const size = (block) => AXES.reduce((product, axis) => product * Math.max(1, blocks[`${axis}_size`][block]), 1);
  const sizes = Array.from({ length: blocks.rows }, (_, block) => size(block));
  return sizes.map((_, block) => block).sort((one, other) => sizes[other] - sizes[one] || one - other);
}

function rankOf(order, count) {
  const rank = new Int32Array(count).fill(-1);
  order.forEach((op, at) => { rank[op] = at; });
  return rank;
}

/** The neighbour of `op` in a sorted list that holds it, or -1. */
function beside(list, op, step) {
  const at = list ? list.indexOf(op) : -1;
  const next = at + step;
  return at < 0 || next < 0 || next >= list.length ? -1 : list[next];
}

/** The first operation of the tile `step` tiles away in program order, or -1. */
function tileBeside(op, step) {
  const tiles = [...model.byTile.keys()];
  const next = tiles.indexOf(page.tables.operations.tile[op]) + step;
  return next < 0 || next >= tiles.length ? -1 : model.byTile.get(tiles[next])[0];
}

/** The core whose memories are shown beside an operation. */
function coreOf(op) {
  const tile = page.tables.operations.tile[op];
  return tile < 0 ? 0 : page.tables.tiles.core[tile];
}

/** The last operation issued at or before a cycle, or -1. */
function issuedBy(cycle) {
  const { issue_cycle: issue } = page.tables.operations;
  let low = 0;
  let high = model.byIssue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (issue[model.byIssue[middle]] <= cycle) low = middle + 1;
    else high = middle;
  }
  return low ? model.byIssue[low - 1] : -1;
}
