// How a state looks on a canvas: a colour, and a hatch or shape, so that no state is colour alone.

let palette = null; // colours of the theme in force, with the hatches made from them

/** Read the theme's colours from the style sheet; call after the theme changed. */
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  palette = {
    paper: colour("paper"), ink: colour("ink"), soft: colour("soft"), line: colour("line"), edge: colour("edge"),
    accent: colour("accent"), flash: colour("flash"),
  };
  for (const state of STATES) {
    palette[state] = { fill: colour(`${state}-fill`), line: colour(`${state}-line`), text: colour(`${state}-text`) };
  }
  palette.hatches = {
    loading: hatch(palette.loading, (pen) => lines(pen, 1)),
    writing: hatch(palette.writing, (pen) => lines(pen, -1)),
    written: hatch(palette.written, dots),
  };
}

const HATCH = 8;

function hatch(colours, draw) {
  const scale = window.devicePixelRatio || 1;
  const side = Math.round(HATCH * scale);
  const canvas = el("canvas", { width: side, height: side });
  const pen = canvas.getContext("2d");
  pen.scale(side / HATCH, side / HATCH);
  pen.fillStyle = colours.fill;
  pen.fillRect(0, 0, HATCH, HATCH);
  pen.strokeStyle = colours.line;
  pen.fillStyle = colours.line;
  draw(pen);
  const pattern = pen.createPattern(canvas, "repeat");
  pattern.setTransform(new DOMMatrix().scale(HATCH / side));
  return pattern;
}

/** Diagonals, rising to the right for 1 and to the left for -1. */
function lines(pen, direction) {
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const shift of [-HATCH, 0, HATCH]) {
    pen.moveTo(shift - 1, direction > 0 ? HATCH + 1 : -1);
    pen.lineTo(shift + HATCH + 1, direction > 0 ? -1 : HATCH + 1);
  }
  pen.stroke();
}

function dots(pen) {
  for (const [x, y] of [[2, 2], [6, 6]]) {
    pen.beginPath();
    pen.arc(x, y, 1, 0, 2 * Math.PI);
    pen.fill();
  }
}

/** Fill `canvas` to `width` × `height` CSS pixels and return a pen in that unit, on clear ground. */
function penFor(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  return pen;
}

/** Paint one block. `share` is how much of a partial sum is there, from 0 to 1. */
function paintBlock(pen, box, state, share) {
  const [x, y, width, height] = box;
  const colours = palette[state];
  pen.fillStyle = palette.hatches[state] || colours.fill;
  if (state === "partial") pen.fillStyle = palette.paper;
  if (state !== "none") pen.fillRect(x, y, width, height);
  if (state === "partial") {
    pen.fillStyle = colours.fill;
    const level = Math.max(2, height * share);
    pen.fillRect(x, y + height - level, width, level);
  }
  pen.strokeStyle = colours.line;
  const small = Math.min(width, height) < 8; // outlines would be all there is to see
  pen.lineWidth = small ? 0.5 : state === "inuse" ? 2 : 1;
  const inset = pen.lineWidth / 2;
  if (!small || width > 2 && height > 2) pen.strokeRect(x + inset, y + inset, width - 2 * inset, height - 2 * inset);
  if (state === "released" && Math.min(width, height) > 7) {
    pen.fillStyle = colours.line;
    pen.beginPath();
    pen.arc(x + width / 2, y + height / 2, 1.5, 0, 2 * Math.PI);
    pen.fill();
  }
}

/** A word in the middle of a block on a patch of its colour, where there is room. */
function paintWord(pen, box, state, word) {
  const [x, y, width, height] = box;
  const room = pen.measureText(word).width;
  if (room + 6 > width || height < 15) return false;
  const [middle, centre] = [x + width / 2, y + height / 2];
  if (palette.hatches[state]) {
    pen.fillStyle = palette[state].fill;
    pen.fillRect(middle - room / 2 - 3, centre - 7, room + 6, 14);
  }
  pen.fillStyle = palette[state].text;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(word, middle, centre + 0.5);
  return true;
}

/** A state as a small square in the text, with the same hatch (see style.css). */
function swatch(state) {
  return el("span", { class: `swatch swatch-${state}`, "aria-hidden": "true" });
}
