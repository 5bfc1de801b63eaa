// The instruction list: only the rows in sight exist.

const ROW = 58; // height of a row in CSS pixels, as in style.css
const GLYPHS = { load: "↓", compute: "×", store: "↑", sync: "⇄", control: "·" };
let listMoment = null;

function buildList() {
  const rows = el("div", { class: "rows", role: "rowgroup" });
  const grid = el("div", {
    id: "list", class: "list", role: "grid", tabindex: "0", "aria-label": tr("steps.list"),
    "aria-rowcount": totalOperations(), "aria-colcount": 6, on: { scroll: drawRows },
  }, rows);
  rows.style.height = `${model.count * ROW}px`;
  return grid;
}

/** Draw the list with the selected operation in the middle, as far as the ends allow. */
function drawList(moment, moved) {
  listMoment = moment;
  const list = byId("list");
  if (moved) list.scrollTop = Math.round(view.op * ROW - (list.clientHeight - ROW) / 2);
  list.setAttribute("aria-activedescendant", `row-${view.op}`);
  drawRows();
}

function drawRows() {
  const list = byId("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 2);
  const last = Math.min(model.count, Math.ceil((list.scrollTop + (list.clientHeight || 400)) / ROW) + 2);
  const rows = [];
  for (let op = first; op < last; op += 1) rows.push(listRow(op));
  fill(list.firstElementChild, rows);
}

function listRow(op) {
  const { operations } = page.tables;
  const kind = page.head.kinds[operations.kind[op]];
  const classes = ["row", `kind-${kind}`, `phase-${listMoment.phases[op]}`];
  if (op === view.op) classes.push("selected");
  if (op > 0 && operations.tile[op] !== operations.tile[op - 1]) classes.push("newtile");
  if (view.q && search().found?.has(op)) classes.push("match");
  const cell = (name, ...children) => el("span", { class: name, role: "gridcell" }, children);
  const row = el("div", {
    id: `row-${op}`, class: classes.join(" "), role: "row", "aria-rowindex": numberOf(op),
    "aria-selected": op === view.op, on: { click: () => change({ op }, "push") },
  },
    el("span", { class: "row-line", role: "presentation" },
      cell("row-number", number(numberOf(op))),
      cell("row-code", el("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[kind]), page.head.opcodes[operations.opcode[op]]),
      cell("row-region", operationRegion(op) || engineOf(op).name)),
    cell("row-tags", statementOf(op) || tagsText(op)),
    el("span", { class: "row-line", role: "presentation" },
      cell("row-sync", [sourceOf(op), sizeText(op), syncText(op)].filter(Boolean).join(" · ")),
      cell("row-cycles", cyclesText(op))));
  row.style.top = `${op * ROW}px`;
  return row;
}

/** What the operation works on: "A[m 0:8, k 0:32]", or the box of a computation. */
function operationRegion(op) {
  const { operations } = page.tables;
  const operand = operations.operand[op];
  if (operations.kind[op] !== COMPUTE && operand !== NO_OPERAND) return regionWords(operand, operations, op);
  return boxWords(operations, op, ["b", "m", "n", "k"]);
}

function cyclesText(op) {
  const { start_cycle: start, finish_cycle: finish } = page.tables.operations;
  return start[op] < 0 ? "" : `${start[op]} → ${finish[op] < 0 ? "…" : finish[op]}`;
}

/** "spad[1] 0x10000000": where an entry lives. */
function entryPlace(entry) {
  const { entries } = page.tables;
  const memory = page.head.memories[entries.memory[entry]];
  return `${memory.name}${memory.by_bytes ? "" : `[${entries.slot[entry]}]`} ${hex(entries.tag[entry])}`;
}

/** The address tags, from what is read to what is filled or added to; a slot is named once. */
function tagsText(op) {
  const { touches, entries } = page.tables;
  const rows = model.touchesOf.get(op) || [];
  const names = (reading) => {
    let slot = "";
    return rows.filter((row) => (touches.mode[row] === READ) === reading).map((row) => {
      const place = entryPlace(touches.entry[row]);
      const same = place.startsWith(`${slot} `);
      slot = place.slice(0, place.lastIndexOf(" "));
      return same ? hex(entries.tag[touches.entry[row]]) : place;
    }).join(", ");
  };
  const [from, to] = [names(true), names(false)];
  return from || to ? `${from} → ${to}`.trim() : "";
}

function sizeText(op) {
  const { operations, touches, entries } = page.tables;
  if (operations.kind[op] === COMPUTE) return operations.macs[op] ? `${operations.macs[op]} MACs` : "";
  const rows = model.touchesOf.get(op) || [];
  if (!rows.length) return operations.bytes[op] ? `${operations.bytes[op]} B` : "";
  const entry = touches.entry[rows[0]];
  const granule = page.head.memories[entries.memory[entry]].granule_bytes;
  if (!entries.granules[entry]) return `${operations.bytes[op]} B`;
  return tr("steps.granules", { count: entries.granules[entry], size: granule });
}

function engineOf(op) {
  return page.head.engines[page.tables.operations.engine[op]];
}

/** An operation as its file writes it, where the page has that. */
function statementOf(op) {
  return page.head.texts[page.tables.operations.text[op]] ?? "";
}

/** File and line of an operation, where its program has them. */
function sourceOf(op) {
  return page.head.sources[page.tables.operations.source[op]] ?? "";
}

function syncText(op) {
  const { waits, posts } = page.tables.operations;
  const parts = [];
  if (waits[op] >= 0) parts.push(`${tr("steps.waits")} ${lettered(page.head.waits[waits[op]])}`);
  if (posts[op] >= 0) parts.push(`${tr("steps.posts")} ${lettered(page.head.posts[posts[op]])}`);
  return parts.join(" · ");
}
