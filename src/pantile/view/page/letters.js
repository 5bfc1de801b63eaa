// Words and letters: the interface language, and the notation chosen for the axes.

const AXES = ["b", "m", "n", "k"];
/** Axes along which each operand extends, by index of `operands` (none, a, b, c, bias). */
const AXES_OF = [[], ["b", "m", "k"], ["b", "k", "n"], ["b", "m", "n"], ["b", "n"]];
const [NO_OPERAND, LEFT, RIGHT, OUTPUT, BIAS] = [0, 1, 2, 3, 4];

/** The interface text `key` in the chosen language, with `{name}` filled in. */
function tr(key, values) {
  const text = WORDS[view.lang][key] ?? WORDS.en[key];
  return values ? text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole)) : text;
}

/** The same as parts to append, so that a value may be a node such as `number(…)`. */
function phrase(key, values) {
  return tr(key).split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] : part));
}

/** Whether the program is one of matrices, with axes and letters. */
function hasMatrices() {
  return "m" in page.head.extents;
}

function letterSet() {
  return page.head.letters.find((set) => set.key === view.x) || page.head.letters[0];
}

function letter(axis) {
  return letterSet()[axis];
}

/** A text from the data with {m} {n} {k} {b} replaced by the chosen letters. */
function lettered(text) {
  return text.replace(/\{([mnkb])\}/g, (_, axis) => letter(axis));
}

function operandName(operand) {
  if (operand === BIAS) return "bias";
  return operand === NO_OPERAND ? "" : letterSet().operands[operand - 1];
}

/** The axes worth naming: the batch only where there is more than one. */
function shownAxes(axes) {
  return axes.filter((axis) => axis !== "b" || page.head.extents.b > 1);
}

/** "m 16:24 · n 8:16": the half-open ranges of a row's box along `axes`, without those of size 0. */
function boxWords(columns, row, axes = AXES) {
  return shownAxes(axes)
    .filter((axis) => columns[`${axis}_size`][row] > 0)
    .map((axis) => {
      const start = columns[`${axis}_start`][row];
      return `${letter(axis)} ${start}:${start + columns[`${axis}_size`][row]}`;
    })
    .join(" · ");
}

/** "A[m 0:8, k 0:32]": an operand and a box along its axes. */
function regionWords(operand, columns, row) {
  return `${operandName(operand)}[${boxWords(columns, row, AXES_OF[operand]).replaceAll(" · ", ", ")}]`;
}

/** "(1, 0, 1)": a tile's indices along m, n, k, after the batch where there is one. */
function pathOf(tile) {
  const axes = shownAxes(AXES);
  return `(${axes.map((axis) => page.tables.tiles[`${axis}_index`][tile]).join(", ")})`;
}

/** "16 × 16 × 32" with letters: the sizes of a tile, of the given kind (size or nominal). */
function sizeWords(tile, kind) {
  return shownAxes(AXES)
    .map((axis) => `${letter(axis)} ${page.tables.tiles[`${axis}_${kind}`][tile]}`)
    .join(" · ");
}
