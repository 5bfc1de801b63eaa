// The state of the page, which lives in the address: only what differs from the default.

const DEFAULTS = { s: "overview", op: 0, by: "op", t: null, x: "", th: "", lang: "en", q: "", f: "", tbl: "", p: 0, sp: 4, keys: "on", w: 0 };
const SCREENS = ["overview", "steps"];
const SPEEDS = [1, 2, 4, 8, 16, 32, 64];
const TABLES = ["figures", "tiles", "operations", "blocks", "entries"];

let view = { ...DEFAULTS };
let notes = []; // what had to be clamped or left out of the address
let lastWrite = 0;
let pendingWrite = 0;

/** Read an address into a state; what is out of range is clamped and noted. */
function parseAddress(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...DEFAULTS, x: page.head.letters[0].key };
  const problems = [];
  const choose = (key, allowed) => {
    const value = given.get(key);
    if (value === null) return;
    if (allowed.includes(value)) state[key] = value;
    else problems.push(["clamp.unknown", { key, given: value, used: state[key] || "-" }]);
  };
  const clamp = (key, low, high, shift, used) => {
    const text = given.get(key);
    if (text === null) return;
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) - shift : NaN;
    state[key] = Number.isNaN(value) ? low : Math.min(high, Math.max(low, value));
    if (state[key] !== value) problems.push(["clamp", { key, given: text, used: used(state[key]) }]);
  };
  clamp("w", 0, page.orders.length - 1, 0, String);
  useOrder(state.w); // all else is of its operations
  if (given.has("v") && given.get("v") !== "1") problems.push(["clamp.version", { given: given.get("v") }]);
  choose("s", SCREENS);
  choose("x", page.head.letters.map((set) => set.key));
  choose("th", ["light", "dark"]);
  choose("lang", Object.keys(WORDS));
  choose("tbl", TABLES);
  choose("keys", ["on", "off"]);
  choose("by", model.timed ? ["op", "cycle"] : ["op"]);
  clamp("op", 0, Math.max(0, model.count - 1), numberOf(0), numberOf);
  clamp("p", 0, 1e6, 0, String);
  clamp("sp", SPEEDS[0], SPEEDS.at(-1), 0, String);
  if (model.timed && state.by === "cycle") clamp("t", 0, model.cycles, 0, String);
  if (!given.has("op")) state.op = usualOperation(state);
  state.q = (given.get("q") || "").slice(0, 500);
  state.f = /^\d+\.\d+$/.test(given.get("f") || "") ? given.get("f") : "";
  return { state, problems };
}

/** Let the page be of the run (0), or of an order that shows a finding. */
function useOrder(order) {
  if (page.tables === page.orders[order] && model) return;
  page.tables = page.orders[order];
  page.head.window = order ? null : page.window; // an order begins with the program
  model = buildModel();
  built = "";
  searched = { key: null, matches: [], bad: "" };
  setPlaying(false);
}

/** Play the order that shows a finding, from the operation before the one that comes too early. */
function playOrder(order) {
  const { operations } = page.head.findings[page.head.orders[order - 1]];
  const { listed } = page.orders[order].operations;
  const op = Math.max(0, Math.min(...operations.map((each) => listed.indexOf(each)).filter((row) => row >= 0)) - 1);
  change({ w: order, op, by: "op", t: null, s: "steps", q: "", f: "" }, "push");
}

/** Back to the run, at the same operation. */
function leaveOrder() {
  const listed = listedOf(view.op);
  const row = page.orders[0].operations.listed.indexOf(listed);
  change({ w: 0, op: Math.max(0, row), t: null }, "push");
}

/** The operation that goes without saying: the first, or at a cycle the one issued last before it. */
function usualOperation(state) {
  return state.by === "cycle" && state.t !== null ? Math.max(0, issuedBy(state.t)) : 0;
}

/** The address of a state. */
function addressOf(state) {
  const out = new URLSearchParams();
  const plain = { ...DEFAULTS, x: page.head.letters[0].key, op: usualOperation(state) };
  const shown = (key) => (key === "op" ? numberOf(state.op) : state[key]);
  for (const key of Object.keys(DEFAULTS)) if (state[key] !== plain[key] && state[key] !== null) out.set(key, shown(key));
  const text = out.toString();
  return text ? `#v=1&${text}` : "#v=1";
}

/** The cycle that the page stands at: its own, or the issue of the selected operation. */
function cycleOf(state) {
  if (state.t !== null) return state.t;
  return model.count ? Math.max(0, page.tables.operations.issue_cycle[state.op]) : 0;
}

function placeOf(state) {
  return { by: state.by, op: state.op, t: cycleOf(state) };
}

/** Change the state and draw it. `how`: "push" an entry of the history, or "replace" this one. */
function change(patch, how = "replace") {
  const before = view;
  view = { ...view, ...patch };
  useOrder(view.w);
  if ("op" in patch && !("t" in patch)) view.t = null;
  notes = [];
  if (how === "push" && addressOf(view) !== addressOf(before)) {
    writeAddress("pushState");
  } else writeSoon();
  draw(before);
}

function writeAddress(how) {
  lastWrite = performance.now();
  try {
    history[how](null, "", addressOf(view));
  } catch (error) {
    if (error.name !== "SecurityError") throw error; // a frame without an address of its own goes without
  }
}

/** Replace the address, at most four times a second: browsers refuse more while playing. */
function writeSoon() {
  clearTimeout(pendingWrite);
  const write = () => writeAddress("replaceState");
  const wait = lastWrite + 250 - performance.now();
  if (wait <= 0) write();
  else pendingWrite = setTimeout(write, wait);
}

/** Take the state from the address: on opening, and on back and forward. */
function readAddress() {
  clearTimeout(pendingWrite);
  const before = view;
  const { state, problems } = parseAddress(location.hash);
  view = state;
  notes = problems;
  draw(before, true);
}
