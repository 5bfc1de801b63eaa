// The transport: step, play, speed, the scrubber, and the position in words.

const player = { playing: false, timer: 0, due: 0 };

/** The position as a sentence: operation, tile and region; with the cycle when moving by cycles. */
function positionWords() {
  if (!model.count) return tr("steps.empty");
  const { operations } = page.tables;
  const words = [];
  if (view.by === "cycle") words.push(tr("position.cycle", { at: cycleOf(view), total: model.cycles }));
  if (view.by === "cycle" && issuedBy(cycleOf(view)) < 0) return [...words, tr("position.before")].join(", ");
  words.push(tr("position.operation", { at: numberOf(view.op), total: totalOperations() }));
  const tile = operations.tile[view.op];
  if (tile >= 0) words.push(tr("position.tile", { path: pathOf(tile) }));
  const box = boxWords(operations, view.op);
  if (box) words.push(tr(operations.kind[view.op] === COMPUTE ? "position.compute" : "position.block", { box }));
  return words.join(", ");
}

function buildTransport() {
  const icon = (sign, name, press) => button(sign, press, { "aria-label": tr(name), title: tr(name) });
  const speed = el("select", { id: "speed", "aria-label": tr("transport.speed"), on: { change: (event) => change({ sp: Number(event.target.value) }) } },
    SPEEDS.map((count) => el("option", { value: count }, tr("transport.speed.op", { count }))));
  const by = el("select", { id: "by", "aria-label": tr("transport.by"), on: { change: (event) => changeBy(event.target.value) } },
    el("option", { value: "op" }, tr("transport.by.op")),
    el("option", { value: "cycle", disabled: !model.timed }, tr(model.timed ? "transport.by.cycle" : "transport.by.none")));
  fill(byId("transport"),
    el("div", { class: "transport-buttons", role: "group", "aria-label": tr("transport") },
      icon("⇤", "transport.first", () => goEnd(-1)), icon("«", "transport.tile.back", () => goTile(-1)),
      icon("‹", "transport.back", () => goStep(-1)),
      el("button", { type: "button", id: "play", class: "play", on: { click: togglePlay } }),
      icon("›", "transport.next", () => goStep(1)), icon("»", "transport.tile.next", () => goTile(1)),
      icon("⇥", "transport.last", () => goEnd(1))),
    el("input", { id: "scrub", type: "range", "aria-label": tr("transport.scrub"), step: 1, on: { input: scrub } }),
    el("div", { class: "transport-choice" }, by, speed),
    el("p", { id: "position" }));
}

function drawTransport() {
  const scrubber = byId("scrub");
  const byCycle = view.by === "cycle";
  scrubber.min = byCycle ? 0 : numberOf(0);
  scrubber.max = byCycle ? model.cycles : Math.max(numberOf(0), numberOf(model.count - 1));
  scrubber.value = byCycle ? cycleOf(view) : numberOf(view.op);
  scrubber.disabled = !model.count;
  scrubber.setAttribute("aria-valuetext", positionWords());
  byId("by").value = view.by;
  byId("speed").value = view.sp;
  const play = byId("play");
  play.textContent = player.playing ? "❚❚" : "▶";
  play.title = tr(player.playing ? "transport.pause" : "transport.play");
  play.setAttribute("aria-label", play.title);
  fill(byId("position"), positionWords());
}

/** Stand at a cycle, with the operation issued last before it selected. */
function cyclePatch(cycle) {
  return { by: "cycle", t: cycle, op: Math.max(0, issuedBy(cycle)) };
}

function scrub(event) {
  const value = Number(event.target.value);
  change(view.by === "cycle" ? cyclePatch(value) : { op: rowOf(value) });
}

function changeBy(by) {
  if (by === "cycle" && !model.timed) return say(tr("note.untimed"));
  return change({ by, op: view.op }, "push");
}

/** Select an operation, or say that there is none. */
function goTo(op, how) {
  if (op < 0 || op >= model.count) return say(tr("note.edge"));
  return change({ op }, how);
}

/** The next or previous operation: in program order, or by cycles in the order of issue. */
function goStep(step) {
  if (view.by === "op") return goTo(view.op + step);
  const next = model.issueRank[view.op] + step;
  return goTo(next >= 0 && next < model.byIssue.length ? model.byIssue[next] : -1);
}

function goTile(step) {
  return goTo(tileBeside(view.op, step));
}

function goEnd(direction) {
  if (view.by === "cycle") return change(cyclePatch(direction < 0 ? 0 : model.cycles), "push");
  return goTo(direction < 0 ? 0 : model.count - 1, "push");
}

function goStage(step) {
  const block = model.outputOf[view.op];
  return block < 0 ? say(tr("note.stage")) : goTo(beside(model.byOutput.get(block), view.op, step));
}

function goEngine(step) {
  return goTo(beside(model.byEngine.get(page.tables.operations.engine[view.op]), view.op, step));
}

function followRelease() {
  const op = page.tables.operations.releaser[view.op];
  return op >= 0 ? goTo(op, "push") : say(tr("note.release"));
}

function togglePlay() {
  setPlaying(!player.playing);
}

function setPlaying(playing) {
  if (player.playing === playing || (playing && !model.count)) return;
  player.playing = playing;
  clearTimeout(player.timer);
  if (playing && atEnd()) change(view.by === "cycle" ? cyclePatch(0) : { op: 0 });
  if (playing) {
    player.due = performance.now();
    tick();
  } else say("", positionWords());
  drawTransport();
}

function atEnd() {
  return view.by === "cycle" ? cycleOf(view) >= model.cycles : view.op >= model.count - 1;
}

/** One step per period; where drawing is slower than that, several steps at once. */
function tick() {
  const period = 1000 / view.sp;
  const steps = Math.max(0, Math.floor((performance.now() - player.due) / period));
  player.due += steps * period;
  if (steps && view.by === "cycle") change(cyclePatch(Math.min(model.cycles, cycleOf(view) + steps)));
  else if (steps) change({ op: Math.min(model.count - 1, view.op + steps) });
  if (atEnd()) setPlaying(false);
  else player.timer = setTimeout(tick, Math.max(4, player.due + period - performance.now()));
}
