// Search over operations: "load tile:1,0,* core:3 wait>100". All terms must hold.

const MEASURES = {
  wait: (ops, op) => (ops.start_cycle[op] < 0 ? NaN : ops.start_cycle[op] - ops.issue_cycle[op]),
  cycles: (ops, op) => (ops.finish_cycle[op] < 0 ? NaN : ops.finish_cycle[op] - ops.start_cycle[op]),
  bytes: (ops, op) => ops.bytes[op],
  macs: (ops, op) => ops.macs[op],
  issue: (ops, op) => (ops.issue_cycle[op] < 0 ? NaN : ops.issue_cycle[op]),
  start: (ops, op) => (ops.start_cycle[op] < 0 ? NaN : ops.start_cycle[op]),
  finish: (ops, op) => (ops.finish_cycle[op] < 0 ? NaN : ops.finish_cycle[op]),
};
const COMPARISONS = {
  ">": (one, other) => one > other,
  "<": (one, other) => one < other,
  ">=": (one, other) => one >= other,
  "<=": (one, other) => one <= other,
  "=": (one, other) => one === other,
};

/** A test of one operation for one term, or null where the term is not understood. */
function termTest(term) {
  const ops = page.tables.operations;
  const measured = /^([a-z]+)(>=|<=|>|<|=)(-?\d+)$/.exec(term);
  if (measured && measured[1] in MEASURES) {
    const [, name, sign, bound] = measured;
    return (op) => COMPARISONS[sign](MEASURES[name](ops, op), Number(bound));
  }
  const keyed = /^(tile|core|op):(.+)$/.exec(term);
  if (keyed && keyed[1] === "tile") return tileTest(keyed[2]);
  if (keyed && keyed[1] === "core") return /^\d+$/.test(keyed[2]) ? (op) => coreOf(op) === Number(keyed[2]) : null;
  if (keyed) {
    const ends = /^(\d+)(?:-(\d+))?$/.exec(keyed[2]);
    return ends ? (op) => numberOf(op) >= Number(ends[1]) && numberOf(op) <= Number(ends[2] ?? ends[1]) : null;
  }
  return /[:<>=]/.test(term) ? null : (op) => wordsOf(op).includes(term);
}

function tileTest(text) {
  const wanted = text.split(",");
  const axes = shownAxes(AXES);
  if (wanted.length !== axes.length || !wanted.every((part) => /^(\*|\d+)$/.test(part))) return null;
  const { operations, tiles } = page.tables;
  return (op) => {
    const tile = operations.tile[op];
    return tile >= 0 && axes.every((axis, at) => wanted[at] === "*" || tiles[`${axis}_index`][tile] === Number(wanted[at]));
  };
}

/** The words by which an operation is found: its kind in every language, opcode, engine, matrix. */
function wordsOf(op) {
  const ops = page.tables.operations;
  const kind = page.head.kinds[ops.kind[op]];
  const kinds = Object.values(WORDS).map((words) => words[`kind.${kind}`]);
  const engine = page.head.engines[ops.engine[op]].name;
  return [...kinds, page.head.opcodes[ops.opcode[op]], engine, operandName(ops.operand[op])].join(" ").toLowerCase();
}

let searched = { key: null, matches: [], bad: "" };

/** Matches of the query, in program order, and the term that was not understood. */
function search() {
  const key = `${view.q}|${view.x}`;
  if (searched.key === key) return searched;
  const terms = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = terms.map(termTest);
  const bad = terms.find((_, at) => !tests[at]) || "";
  const matches = [];
  if (terms.length && !bad) {
    for (let op = 0; op < model.count; op += 1) if (tests.every((test) => test(op))) matches.push(op);
  }
  searched = { key, matches, bad, found: new Set(matches) };
  return searched;
}

/** Go to the next or previous match; without a query, to the next finding's operation. */
function gotoMatch(step) {
  const list = view.q ? search().matches : findingOperations();
  if (!list.length) return say(view.q ? tr("top.nomatch") : tr("note.search"));
  const after = list.findIndex((op) => op > view.op);
  let at = after < 0 ? 0 : after;
  if (step < 0) at = (list.findLastIndex((op) => op < view.op) + list.length) % list.length;
  if (step < 0 && !list.some((op) => op < view.op)) at = list.length - 1;
  return change({ op: list[at], s: "steps" }, "push");
}

function findingOperations() {
  const rows = page.head.findings.flatMap((finding) => finding.operations.map(rowOfListed));
  return [...new Set(rows)].filter((op) => op >= 0 && op < model.count).sort((one, other) => one - other);
}
