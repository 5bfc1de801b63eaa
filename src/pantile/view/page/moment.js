// The picture at one moment: what every operation, entry and block is doing there.
// By operation: those before the selected one have finished, it is under way, the others have not begun.
// By cycle: an operation is under way from its issue to its finish.

/** States in rising order of urgency: of several entries with one block, the highest shows. */
const STATES = ["none", "released", "loading", "resident", "partial", "done", "written", "writing", "inuse"];
const STATE = Object.fromEntries(STATES.map((name, code) => [name, code]));

/** 0 not begun, 1 under way, 2 finished. */
function phasesAt(place) {
  const { operations } = page.tables;
  const phases = new Uint8Array(model.count);
  for (let op = 0; op < model.count; op += 1) {
    if (place.by === "op") phases[op] = op < place.op ? 2 : op === place.op ? 1 : 0;
    else {
      const issue = operations.issue_cycle[op];
      const finish = operations.finish_cycle[op];
      if (issue >= 0 && issue <= place.t) phases[op] = finish >= 0 && finish <= place.t ? 2 : 1;
    }
  }
  return phases;
}

/** Whether an entry is there: 0 not yet, 1 there, 2 dropped again. */
function presenceAt(place, entry) {
  const { entries } = page.tables;
  if (place.by === "op") {
    if (place.op < entries.opened[entry]) return 0;
    return entries.closed[entry] >= 0 && place.op >= entries.closed[entry] ? 2 : 1;
  }
  const closed = entries.closed_cycle[entry];
  if (entries.opened[entry] >= 0) {
    const opened = entries.opened_cycle[entry];
    if (opened < 0 || place.t < opened) return 0;
  }
  return closed >= 0 && place.t >= closed ? 2 : 1;
}

/** Sum the touches of each entry by phase. */
function countTouches(phases) {
  const { touches, entries, operations, blocks } = page.tables;
  const many = (length) => new Int32Array(length);
  const sums = {
    loading: many(entries.rows), reading: many(entries.rows), updating: many(entries.rows),
    loaded: many(entries.rows), pending: many(entries.rows),
    done: many(blocks.rows), base: many(blocks.rows).fill(-1), total: many(blocks.rows), stored: many(blocks.rows),
  };
  for (let row = 0; row < touches.rows; row += 1) {
    const entry = touches.entry[row];
    const op = touches.operation[row];
    const phase = phases[op];
    const block = entries.block[entry];
    const mode = touches.mode[row];
    if (mode === UPDATE && block >= 0) {
      if (sums.base[block] < 0) sums.base[block] = Math.max(0, operations.stage[op]); // a window may begin midway
      sums.total[block] = Math.max(sums.total[block], operations.stage_count[op]);
      if (phase === 2) sums.done[block] += 1;
    }
    const leaves = mode === READ && operations.kind[op] === STORE && !model.filling[op];
    if (leaves && phase === 2 && block >= 0) sums.stored[block] += 1;
    if (phase === 1) {
      sums.pending[entry] += touches.pending[row];
      (mode === READ ? sums.reading : mode === WRITE ? sums.loading : sums.updating)[entry] += 1;
    } else if (phase === 2 && mode === WRITE) sums.loaded[entry] += 1;
  }
  for (let block = 0; block < blocks.rows; block += 1) sums.done[block] += Math.max(0, sums.base[block]);
  return sums;
}

function stateOfEntry(entry, presence, sums) {
  if (presence !== 1) return presence ? STATE.released : STATE.none;
  const block = page.tables.entries.block[entry];
  if (page.tables.entries.operand[entry] === OUTPUT && block >= 0) {
    if (sums.updating[entry]) return STATE.inuse;
    if (sums.reading[entry]) return STATE.writing;
    const unknown = page.head.window && !sums.total[block]; // a window has none of its contributions
    return (unknown ? 0 : outputState(block, sums)) || (sums.loading[entry] ? STATE.loading : STATE.resident);
  }
  if (sums.loading[entry]) return STATE.loading;
  return sums.reading[entry] || sums.updating[entry] ? STATE.inuse : STATE.resident;
}

/** The state that the finished contributions and stores of an output block amount to. */
function outputState(block, sums) {
  const complete = sums.done[block] >= sums.total[block];
  if (complete && sums.stored[block]) return STATE.written;
  if (complete) return STATE.done;
  return sums.done[block] ? STATE.partial : STATE.none;
}

/** Everything the pictures show at `place` = {by, op, t}. */
function momentAt(place) {
  const { entries, blocks } = page.tables;
  const phases = phasesAt(place);
  const sums = countTouches(phases);
  const entryState = new Uint8Array(entries.rows);
  const blockState = new Uint8Array(blocks.rows);
  for (let entry = 0; entry < entries.rows; entry += 1) {
    entryState[entry] = stateOfEntry(entry, presenceAt(place, entry), sums);
    const block = entries.block[entry];
    if (block >= 0) blockState[block] = Math.max(blockState[block], entryState[entry]);
  }
  for (let block = 0; block < blocks.rows; block += 1) {
    const written = blocks.operand[block] === OUTPUT && outputState(block, sums) === STATE.written;
    if (written && blockState[block] < STATE.written) blockState[block] = STATE.written; // off the chip, but kept
  }
  return { place, phases, entryState, blockState, sums };
}

/** The word for a block's or an output entry's state; partial sums with their count. */
function stateWords(code, block, moment) {
  const partial = code === STATE.partial || (code === STATE.inuse && block >= 0 && moment.sums.total[block] > 0);
  if (!partial) return tr(`state.${STATES[code]}`);
  const count = { done: moment.sums.done[block], total: moment.sums.total[block] };
  const words = tr("state.partial.of", count);
  return code === STATE.partial ? words : `${tr("state.inuse")}; ${words}`;
}
