// Opening the page, and drawing it whenever its state changes.

let page = null;
let model = null;
let built = ""; // language and letters that the standing parts were built in

/** Show a short note, and read it out; another text may be read than shown. */
function say(text, spoken) {
  const note = byId("note");
  note.hidden = !text;
  fill(note, text);
  if (spoken) fill(byId("live"), spoken);
}

/** Draw the page. `quiet`: nothing flashes, as on opening and on back and forward. */
function draw(before, quiet = false) {
  document.documentElement.dataset.theme = effectiveTheme();
  document.documentElement.lang = view.lang;
  const repainted = palette === null || before.th !== view.th;
  if (repainted) readPalette();
  const rebuild = built !== `${view.lang} ${view.x}`;
  if (rebuild) {
    built = `${view.lang} ${view.x}`;
    const focused = document.activeElement?.id;
    buildTop();
    buildOverview();
    buildSteps();
    buildTransport();
    if (focused) byId(focused)?.focus();
  }
  drawTop();
  drawOverview();
  drawScreen(before, quiet || rebuild);
  drawInspector();
  drawTransport();
  drawTable();
  say(notes.map(([key, values]) => tr(key, values)).join(" "));
  const moved = before.op !== view.op || cycleOf(before) !== cycleOf(view);
  if (moved && !player.playing && !quiet) fill(byId("live"), positionWords());
}

function drawScreen(before, quiet) {
  if (view.s === "steps" && model.count) drawSteps(before, quiet);
}

/** A screen that was hidden has no size; one that is resized has another. */
function redraw() {
  readPalette();
  drawScreen(view, true);
}

function dressForPrint(printing) {
  document.documentElement.dataset.theme = printing ? "light" : effectiveTheme();
  redraw();
}

async function start() {
  try {
    page = await readPage();
  } catch (error) {
    const fatal = byId("fatal");
    const key = error instanceof Unreadable ? "fatal.inflate" : "fatal.data";
    fatal.textContent = Object.values(WORDS).map((words) => words[key].replace("{why}", error.message)).join("\n");
    fatal.hidden = false;
    return;
  }
  byId("app").hidden = false;
  addEventListener("popstate", readAddress);
  addEventListener("keydown", pressed);
  addEventListener("resize", redraw);
  addEventListener("beforeprint", () => dressForPrint(true));
  addEventListener("afterprint", () => dressForPrint(false));
  darkQuery.addEventListener("change", () => draw({ ...view, th: "?" }, true));
  byId("dialog").addEventListener("close", dialogClosed);
  readAddress();
}

start();
