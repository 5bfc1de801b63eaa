// The Overview: what is computed, how it is cut, whether it is sound, where the cycles go.

function buildOverview() {
  const { head } = page;
  fill(byId("overview"),
    el("h2", { class: "unseen" }, tr("screen.overview")),
    el("div", { class: "headline" }, head.figures.filter((figure) => figure.headline).map(headlineFigure), badge()),
    windowNote(),
    el("div", { class: "columns" },
      el("div", null, countsSection(), cyclesSection()),
      el("div", null, findingsSection(), levelsSection(), memoriesSection(), notesSection())),
    decisionsSection());
}

/** Only the chosen factor ever changes here. */
function drawOverview() {
  for (const node of byId("overview").querySelectorAll(".factor")) node.setAttribute("aria-pressed", node.dataset.factor === view.f);
}

function section(title, ...children) {
  return el("section", { class: "block" }, el("h3", null, tr(title)), children);
}

function figureName(figure) {
  return WORDS[view.lang][`figure.${figure.key}`] ?? lettered(figure.label);
}

function headlineFigure(figure) {
  const unit = figure.label.includes(figure.unit) ? "" : figure.unit; // "cycles", not "cycles cycles"
  return el("div", { class: "big" }, el("div", { class: "big-value" }, quantity(figure.value, unit)),
    el("div", { class: "soft" }, figureName(figure)));
}

/** The findings in one word and one sign; leads to the list. */
function badge() {
  const { findings, proved } = page.head;
  const count = (severity) => findings.filter((finding) => finding.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  let [kind, sign, text] = ["clear", "✓", tr("overview.clear")];
  const many = (count, one, more) => tr(count === 1 ? one : more, { count });
  if (errors) [kind, sign, text] = ["error", "✕", many(errors, "overview.error", "overview.errors")];
  else if (warnings) [kind, sign, text] = ["warning", "!", many(warnings, "overview.warning", "overview.warnings")];
  else if (findings.length) [kind, sign, text] = ["note", "i", many(findings.length, "overview.note", "overview.notes.count")];
  else if (!proved.length) [kind, sign, text] = ["none", "–", tr("overview.unchecked")];
  const go = () => byId("findings").scrollIntoView({ block: "nearest" });
  return el("button", { type: "button", class: `big badge badge-${kind}`, on: { click: go } },
    el("span", { class: "big-value", "aria-hidden": "true" }, sign), el("span", null, text));
}

function windowNote() {
  const { window: part } = page.head;
  if (!part) return "";
  const values = { count: model.count, total: part.total, first: numberOf(0), last: numberOf(model.count - 1), command: part.command };
  return el("p", { class: "notice" }, tr("window", values));
}

/** Counts as products, each factor a button that explains itself in the inspector. */
function countsSection() {
  const rows = page.head.figures.map((figure, at) => figure.headline && !figure.factors.length ? "" : el("tr", null,
    el("th", { scope: "row" }, figureName(figure)),
    el("td", { class: "right" }, quantity(figure.value, figure.unit)),
    el("td", { class: "product" }, figure.factors.length ? product(figure, at) : "")));
  return section("overview.counts", el("table", { class: "figures" }, el("tbody", null, rows)));
}

function factorName(factor) {
  return factor.axis ? letter(factor.axis) : lettered(factor.noun);
}

function product(figure, at) {
  return figure.factors.map((factor, index) => {
    const key = `${at}.${index}`;
    const press = () => change({ f: view.f === key ? "" : key }, "push");
    return [index ? " × " : "= ", button([number(factor.count), " ", el("span", { class: "axis" }, factorName(factor))], press,
      { class: "factor", "data-factor": key })];
  });
}

/** The terms as one bar, whose parts have a hatch of their own, and as a table. */
function cyclesSection() {
  const { terms } = page.head;
  const total = terms.reduce((sum, term) => sum + Number(term.cycles), 0);
  if (!total) return "";
  const bar = el("div", { class: "bar", role: "img", "aria-label": terms.map((term) => `${termName(term)} ${term.cycles}`).join(", ") });
  const rows = terms.map((term, index) => {
    const part = el("span", { class: `part part-${index % 9}`, title: termName(term) });
    part.style.width = `${(100 * Number(term.cycles)) / total}%`;
    if (Number(term.cycles)) bar.append(part);
    const bound = term.name === page.head.bound_by ? el("span", { class: "tag" }, tr("overview.bound")) : "";
    return el("tr", null,
      el("th", { scope: "row" }, el("span", { class: `part key part-${index % 9}`, "aria-hidden": "true" }), " ", termName(term), " ", bound),
      el("td", { class: "right" }, number(term.cycles)),
      el("td", { class: "right soft" }, percent(Number(term.cycles) / total)));
  });
  const sum = el("tr", { class: "sum" }, el("th", { scope: "row" }, tr("overview.cycles.total")), el("td", { class: "right" }, number(total)), el("td"));
  return section("overview.cycles", bar, el("table", { class: "figures" }, el("tbody", null, rows, sum)));
}

function termName(term) {
  return WORDS[view.lang][`term.${term.name}`] ?? term.name;
}

function levelsSection() {
  const { levels } = page.head;
  if (!levels.length) return "";
  const axes = shownAxes(AXES);
  const cells = (values, sign) => axes.filter((axis) => axis in values)
    .map((axis, at) => [at ? sign : "", number(values[axis]), " ", el("span", { class: "axis" }, letter(axis))]);
  const rows = levels.map((level) => el("tr", null, el("th", { scope: "row" }, lettered(level.name)),
    el("td", null, cells(level.counts, " × ")), el("td", null, cells(level.nominal, " · "))));
  const heads = ["level", "pieces", "nominal"].map((name) => el("th", { scope: "col" }, tr(`overview.${name}`)));
  return section("overview.levels", el("table", { class: "figures" }, el("thead", null, el("tr", null, heads)), el("tbody", null, rows)));
}

function memoriesSection() {
  const { memories } = page.head;
  if (!memories.length) return "";
  const heads = ["memory", "slots", "capacity", "granule"].map((name) => el("th", { scope: "col" }, tr(`overview.${name}`)));
  const rows = memories.map((memory) => el("tr", null, el("th", { scope: "row" }, memory.name), el("td", null, number(memory.slots)),
    el("td", null, slotSizes(memory)), el("td", null, quantity(memory.granule_bytes, "B"))));
  return section("overview.memories", el("table", { class: "figures" }, el("thead", null, el("tr", null, heads)), el("tbody", null, rows)));
}

/** The size of a slot, or how many there are of each size. */
function slotSizes(memory) {
  const sizes = [...new Set(memory.slot_bytes)];
  if (sizes.length < 2) return quantity(memory.capacity_bytes, "B");
  const count = (size) => memory.slot_bytes.filter((each) => each === size).length;
  return sizes.map((size, at) => [at ? ", " : "", number(count(size)), " × ", quantity(size, "B")]);
}

function decisionsSection() {
  const { decisions } = page.head;
  if (!decisions.length) return "";
  const items = decisions.map((decision) => el("li", { class: "decision" },
    el("div", { class: "decision-head" }, el("span", { class: "stage" }, lettered(decision.stage)),
      el("strong", null, lettered(decision.name)), el("span", { class: "decision-value" }, `= ${lettered(decision.value)}`)),
    decision.formula ? el("div", { class: "mono formula" }, lettered(decision.formula)) : "",
    decision.inputs.length ? el("div", { class: "soft" }, `${tr("overview.inputs")} `,
      decision.inputs.map(([name, value], at) => [at ? ", " : "", el("span", { class: "mono" }, `${lettered(name)} = ${lettered(value)}`)])) : "",
    decision.rejected.map((loser) => el("div", { class: "rejected" }, el("span", { class: "tag" }, tr("overview.rejected")), " ",
      el("s", null, lettered(loser.value)), ` ${tr("overview.because")} ${lettered(loser.why)}`))));
  return section("overview.decisions", el("ol", { class: "decisions" }, items));
}

function findingsSection() {
  const { findings, proved } = page.head;
  const items = findings.map((finding, at) => el("li", { class: `finding finding-${finding.severity}` },
    el("div", null, el("span", { class: "tag" }, tr(`severity.${finding.severity}`)), " ", el("span", { class: "mono" }, finding.code), " ", lettered(finding.sentence)),
    definitions([
      [tr("overview.evidence"), lettered(finding.evidence)],
      [tr("overview.grade"), finding.grade],
      [tr("overview.mend"), lettered(finding.mend)],
    ]),
    el("div", { class: "jumps" }, finding.operations.map(jump)), playButton(at)));
  const node = section("overview.findings", items.length ? el("ul", { class: "plain" }, items) : el("p", null, tr(proved.length ? "overview.clear" : "overview.unchecked")),
    proved.length ? [el("h4", null, tr("overview.proved")), el("ul", { class: "proved" }, proved.map((text) => el("li", null, lettered(text))))] : "");
  node.id = "findings";
  return node;
}

/** A button that plays the order which shows a finding, where the page holds it. */
function playButton(finding) {
  const order = page.head.orders.indexOf(finding) + 1;
  return order ? el("div", null, button(tr("overview.play"), () => playOrder(order), { class: "play-order" })) : "";
}

/** A button to an operation by its number in --json, if the page holds it. */
function jump(index) {
  const op = rowOfListed(index);
  const held = op >= 0 && op < model.count;
  if (!held && model.rowOfListed.size) return el("span", { class: "soft" }, `${tr("overview.jump.outside", { listed: index })} `);
  const shown = held ? numberOf(op) : index + 1;
  const words = tr(shown === index + 1 ? "overview.jump" : "overview.jump.listed", { number: shown, listed: index });
  const label = [words, held && sourceOf(op)].filter(Boolean).join(", ");
  if (!held) return el("span", { class: "soft" }, `${label} `);
  return [button(label, () => change({ op, s: "steps" }, "push"), { class: "link" }), " "];
}

function notesSection() {
  const { notes: texts } = page.head;
  return texts.length ? section("overview.notes", el("ul", { class: "proved" }, texts.map((text) => el("li", null, lettered(text))))) : "";
}
