// Memories drawn from their first byte to their last: what lies where, and what the selected operation touches.

/** "0:4096": bytes, the last one excluded. */
function byteWords(low, length) {
  return `${low}:${low + length}`;
}

/** What an entry is: a region of a matrix, or where there is none its bytes. */
function entryWords(entry) {
  const { entries } = page.tables;
  if (entries.operand[entry] !== NO_OPERAND) return regionWords(entries.operand[entry], entries, entry);
  return byteWords(entries.tag[entry], entries.bytes[entry]);
}

/** The ranges of bytes that an operation touches, each once, as {memory, mode, lo, length}. */
function touchedRanges(op) {
  const { touches, entries } = page.tables;
  const found = new Map();
  for (const row of model.touchesOf.get(op) || []) {
    if (touches.lo[row] < 0) continue;
    const range = { memory: entries.memory[touches.entry[row]], mode: touches.mode[row], lo: touches.lo[row], length: touches.length[row] };
    found.set(Object.values(range).join(), range);
  }
  return [...found.values()];
}

/** A memory as a bar: live entries in the colours of their states, frames around what is touched. */
function byteBar(memory, index, list, moment) {
  const place = (node, low, length) => {
    node.style.left = `${(100 * low) / memory.capacity_bytes}%`;
    node.style.width = `${(100 * length) / memory.capacity_bytes}%`;
    return node;
  };
  const { entries } = page.tables;
  const lying = list.map((entry) => place(el("span", { class: `range swatch-${STATES[moment.entryState[entry]]}`, title: entryWords(entry) }),
    entries.tag[entry], entries.bytes[entry]));
  const ranges = touchedRanges(view.op).filter((range) => range.memory === index);
  const frames = ranges.map((range) => place(el("span", { class: `touched touched-${page.head.modes[range.mode]}` }), range.lo, range.length));
  const words = ranges.map((range) => `${tr(TOUCH_WORDS[range.mode])} ${byteWords(range.lo, range.length)}`);
  const label = `${memory.name}: ${tr("steps.ranges", { count: list.length })}${words.length ? `; ${words.join(", ")}` : ""}`;
  return el("div", { class: "bytes", role: "img", "aria-label": label }, lying, frames);
}

const TOUCH_WORDS = ["inspector.read", "inspector.write", "inspector.update"];
