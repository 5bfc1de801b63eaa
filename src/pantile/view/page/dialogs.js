// Dialogs: the frame they share, help, and "go to".

/** Show `content` in the page's one dialog; focus goes to its title when it opens. */
function openDialog(kind, title, ...content) {
  const dialog = byId("dialog");
  const heading = el("h2", { id: "dialog-title", tabindex: "-1" }, title);
  const close = button("×", () => closeDialog(), { class: "close", "aria-label": tr("close") });
  const focused = dialog.open && dialog.contains(document.activeElement) ? document.activeElement.textContent : null;
  fill(dialog, el("div", { class: "dialog-head" }, heading, close), content);
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.dataset.kind = kind;
  if (!dialog.open) dialog.showModal();
  const again = focused && [...dialog.querySelectorAll("button:not(:disabled)")].find((node) => node.textContent === focused);
  (again || heading).focus();
  return dialog;
}

function closeDialog() {
  byId("dialog").close();
}

/** Closing a table, by whatever means, clears it from the address too. */
function dialogClosed() {
  if (view.tbl && byId("dialog").dataset.kind === "table") change({ tbl: "", p: 0 });
}

const KEY_HELP = [
  [["→", "←", "l", "h"], "help.step"],
  [["Shift →", "Shift ←"], "help.tile"],
  [["]", "["], "help.stage"],
  [[".", ","], "help.engine"],
  [["Space"], "help.play"],
  [["Home", "End"], "help.ends"],
  [["u"], "help.follow"],
  [["1", "2"], "help.screen"],
  [["g"], "help.go"],
  [["/", "n", "N"], "help.search"],
  [["t"], "help.table"],
  [["?"], "help.help"],
  [["Esc"], "help.clear"],
];

function showHelp() {
  const rows = KEY_HELP.map(([keys, words]) => el("tr", null,
    el("th", { scope: "row" }, keys.map((key) => [el("kbd", null, key), " "])), el("td", null, tr(words))));
  const letters = el("input", {
    type: "checkbox", id: "letter-keys", on: { change: (event) => change({ keys: event.target.checked ? "on" : "off" }) },
  });
  letters.checked = view.keys === "on";
  openDialog("help", tr("help.title"),
    el("table", { class: "keys" }, el("tbody", null, rows)),
    el("p", null, letters, " ", el("label", { for: "letter-keys" }, tr("help.letters"))),
    el("p", { class: "soft" }, tr("help.letters.off")),
    el("h3", null, tr("help.semantics")),
    ["help.by.op", "help.by.cycle", "help.numbers", "help.trace"].map((key) => el("p", null, tr(key))),
    el("p", { class: "soft" }, `Pantile ${page.head.version}`));
}

function showGo() {
  const input = el("input", { id: "go-input", type: "text", placeholder: tr("go.hint"), autocomplete: "off" });
  const problem = el("p", { id: "go-problem", role: "alert" });
  const submit = (event) => {
    event.preventDefault();
    const { patch, bad } = parseTarget(input.value.trim().toLowerCase());
    if (bad) return fill(problem, bad);
    closeDialog();
    return change({ ...patch, s: "steps" }, "push");
  };
  openDialog("go", tr("go.title"), el("form", { on: { submit } },
    el("label", { for: "go-input" }, tr("go.label")), " ", input, " ", el("button", { type: "submit" }, tr("go.button")), problem));
  input.focus();
}

/** "122", "tile 1,0,1" or "cycle 500" as a change of state, or what is wrong with it. */
function parseTarget(text) {
  const cycle = /^(?:cycle|周期|@)\s*(\d+)$/.exec(text);
  if (cycle && model.timed && Number(cycle[1]) <= model.cycles) return { patch: cyclePatch(Number(cycle[1])) };
  const tile = /^(?:tile|分块)?\s*\(?((?:\d+\s*,\s*)+\d+)\)?$/.exec(text);
  if (tile) {
    const wanted = `(${tile[1].split(",").map((part) => part.trim()).join(", ")})`;
    const found = [...model.byTile.keys()].find((row) => pathOf(row) === wanted);
    return found === undefined ? { bad: tr("go.tile", { text: wanted }) } : { patch: { op: model.byTile.get(found)[0] } };
  }
  const op = /^(?:op|operation|操作)?\s*(\d+)$/.exec(text);
  const row = op ? rowOf(Number(op[1])) : -1;
  if (row >= 0 && row < model.count) return { patch: { op: row } };
  return { bad: tr("go.bad", { text }) };
}
