// Each memory of one core as its slots: who took them, what is in them, how full they are.

const SHOWN_ENTRIES = 48; // per slot; the rest are counted, and all are in the table

/** The tile that holds each slot of `core` at `place`, by "memory.slot". */
function holders(place, core) {
  const { tiles, bindings, operations } = page.tables;
  const held = new Map();
  const begun = (tile, ops) => (place.by === "op" ? ops[0] <= place.op : tiles.issue_cycle[tile] >= 0 && tiles.issue_cycle[tile] <= place.t);
  for (const [tile, ops] of model.byTile) {
    if (tiles.core[tile] !== core || !begun(tile, ops)) continue;
    for (const row of model.bindingsOf.get(tile) || []) held.set(`${bindings.memory[row]}.${bindings.slot[row]}`, tile);
  }
  return operations.rows ? held : new Map();
}

/** Bytes that an entry takes away from its slot. */
function footprint(entry) {
  const { entries } = page.tables;
  const granule = page.head.memories[entries.memory[entry]].granule_bytes;
  return entries.granules[entry] ? entries.granules[entry] * granule : entries.bytes[entry];
}

/** The entries that are there at a moment, by "memory.slot", in order of arrival. */
function residents(moment, core) {
  const { entries } = page.tables;
  const there = new Map();
  for (let entry = 0; entry < entries.rows; entry += 1) {
    if (entries.core[entry] !== core || moment.entryState[entry] <= STATE.released) continue;
    const key = `${entries.memory[entry]}.${entries.slot[entry]}`;
    if (!there.has(key)) there.set(key, []);
    there.get(key).push(entry);
  }
  return there;
}

function drawMemories(node, moment, changed) {
  const placed = page.head.memories.every((memory) => memory.placed); // then all is kept with core 0
  const core = model.count && !placed ? coreOf(view.op) : 0;
  const held = holders(moment.place, core);
  const there = residents(moment, core);
  const cards = page.head.memories.map((memory, index) => {
    const slots = Array.from({ length: memory.slots }, (_, slot) => {
      const key = `${index}.${slot}`;
      const list = there.get(key) || [];
      if (memory.by_bytes) return byteCard(memory, index, list, moment, changed);
      return slotCard(memory, slot, placed ? tileIn(list) : held.get(key), list, moment, changed);
    });
    return el("section", { class: "memory", "aria-label": memory.name },
      el("h4", null, memory.name, memory.placed ? "" : el("span", { class: "soft" }, ` ${tr("steps.core", { core })}`)),
      el("div", { class: "slots" }, slots));
  });
  fill(node, cards);
}

/** A memory whose entries are mere bytes: a bar on which they lie, and a row for each. */
function byteCard(memory, index, list, moment, changed) {
  const used = list.reduce((sum, entry) => sum + footprint(entry), 0);
  const words = phrase("steps.occupied", { used: number(used), capacity: number(memory.capacity_bytes) });
  list.sort((one, other) => page.tables.entries.tag[one] - page.tables.entries.tag[other]);
  const { tag, bytes } = page.tables.entries;
  const beyond = list.some((entry) => tag[entry] + bytes[entry] > memory.capacity_bytes);
  return el("div", { class: "slot" }, byteBar(memory, index, list, moment),
    el("div", { class: "soft small" }, words, ` (${percent(used / memory.capacity_bytes)})`,
      beyond ? el("strong", { class: "beyond" }, ` ${tr("steps.beyond")}`) : ""), entryRows(list, moment, changed));
}

function entryRows(list, moment, changed) {
  return [
    el("ul", { class: "entries" }, list.slice(0, SHOWN_ENTRIES).map((entry) => entryRow(entry, moment, changed.has(entry)))),
    list.length > SHOWN_ENTRIES ? el("p", { class: "soft small" }, tr("steps.more", { count: list.length - SHOWN_ENTRIES })) : "",
  ];
}

/** The tile of the entry that came last to a slot that nothing binds to a tile. */
function tileIn(list) {
  const tile = list.length ? page.tables.entries.tile[list.at(-1)] : -1;
  return tile < 0 ? undefined : tile;
}

function slotCard(memory, slot, tile, list, moment, changed) {
  const used = list.reduce((sum, entry) => sum + footprint(entry), 0);
  const capacity = memory.slot_bytes[slot] ?? memory.capacity_bytes;
  const share = capacity ? used / capacity : 0;
  const level = el("span", { class: share > 1 ? "level over" : "level" });
  level.style.width = `${Math.min(100, 100 * share)}%`;
  const states = list.map((entry) => moment.entryState[entry]);
  const name = memory.slot_names[slot] ?? tr("steps.slot", { slot });
  return el("div", { class: "slot" },
    el("div", { class: "slot-head" },
      el("strong", null, name), " ",
      tile === undefined ? el("span", { class: "soft" }, tr("steps.slot.free")) : el("span", null, tr("steps.tile", { path: pathOf(tile) })),
      tile === undefined ? "" : el("span", { class: "soft slot-state" }, slotState(states))),
    el("div", {
      class: "occupancy", role: "img",
      "aria-label": tr("steps.occupancy", { used, capacity, slot: name }),
    }, level),
    el("div", { class: "soft small" }, phrase("steps.occupied", { used: number(used), capacity: number(capacity) }),
      share ? ` (${percent(share)})` : ""),
    entryRows(list, moment, changed));
}

function slotState(states) {
  if (!states.length) return tr("steps.slot.held");
  if (states.some((state) => state === STATE.inuse || state === STATE.writing)) return tr("steps.slot.busy");
  return tr(states.some((state) => state === STATE.loading) ? "steps.slot.filling" : "steps.slot.ready");
}

function entryRow(entry, moment, flashes) {
  const { entries } = page.tables;
  const code = moment.entryState[entry];
  const operand = entries.operand[entry];
  const block = operand === OUTPUT ? entries.block[entry] : -1;
  const filling = operand === NO_OPERAND && code === STATE.loading; // a product fills, too
  const pending = filling ? "" : pendingWords(entry, moment);
  return el("li", { class: flashes ? "entry flashing" : "entry" },
    el("button", {
      type: "button", class: "entry-go", title: hex(entries.tag[entry]),
      on: { click: () => gotoTouching(model.touchesOfEntry.get(entry)) },
    },
      swatch(STATES[code]),
      el("span", { class: "entry-region" }, entryWords(entry)),
      el("span", { class: "soft" }, number(footprint(entry)), " B"),
      el("span", { class: "entry-tag soft" }, hex(entries.tag[entry])),
      el("span", { class: "entry-state" }, filling ? tr("steps.slot.filling") : stateWords(code, block, moment), pending ? `, ${pending}` : "")));
}

/** Completions still out. By cycle a load's single responses are not recorded, only its last. */
function pendingWords(entry, moment) {
  const count = moment.sums.pending[entry];
  if (!count) return "";
  const most = moment.place.by === "cycle" && moment.sums.loading[entry] > 0 && count > 1;
  return tr(most ? "steps.pending.most" : "steps.pending", { count });
}

/** Go to the next operation among `touches` rows, or else to the last one before. */
function gotoTouching(rows) {
  const op = leadOf(rows);
  if (op >= 0) change({ op, s: "steps" }, "push");
}
