// The dialog with the tables of the picture: a page of rows at a time, and all of them as CSV.

const TABLE_ROWS = 100;

/** Open the table of the current picture, at the selected operation. */
function showTable() {
  const steps = view.s === "steps";
  change({ tbl: steps ? "operations" : "figures", p: steps ? Math.floor(view.op / TABLE_ROWS) : 0 }, "push");
}

function drawTable() {
  const dialog = byId("dialog");
  const shown = dialog.open && dialog.dataset.kind === "table";
  if (!view.tbl) {
    if (shown) dialog.close();
    return;
  }
  const table = tableOf(view.tbl);
  const pages = Math.max(1, Math.ceil(table.count / TABLE_ROWS));
  const at = Math.min(view.p, pages - 1);
  const first = at * TABLE_ROWS;
  const last = Math.min(table.count, first + TABLE_ROWS);
  const caption = table.moves ? tr("table.caption", { name: table.title, position: positionWords() }) : table.title;
  openDialog("table", tr("table.of"),
    el("div", { class: "bar-buttons" }, TABLES.map((name) =>
      button(tr(`table.${name}`), () => change({ tbl: name, p: 0 }), { "aria-pressed": name === view.tbl }))),
    el("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": caption }, tableElement(table, caption, first, last)),
    el("div", { class: "bar-buttons" },
      pages > 1 && button(tr("table.back"), () => change({ p: at - 1 }), { disabled: at === 0 }),
      pages > 1 && button(tr("table.next"), () => change({ p: at + 1 }), { disabled: at === pages - 1 }),
      el("span", { class: "soft" }, tr("table.page", { first: table.count ? first + 1 : 0, last, count: table.count })),
      button(tr("table.csv"), () => saveCsv(view.tbl, table))));
  dialog.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
}

function tableElement(table, caption, first, last) {
  const rows = [];
  for (let row = first; row < last; row += 1) {
    const op = table.leads(row);
    const go = op < 0 ? "" : button(tr("table.go"), () => change({ op, tbl: "", p: 0, s: "steps" }, "push"),
      { class: "link", "aria-label": `${tr("table.go")}: ${tr("overview.jump", { number: numberOf(op) })}` });
    const cells = table.cells(row).map((cell, at) => el("td", { class: table.columns[at][1] ? "right" : "" }, typeof cell === "number" ? number(cell) : String(cell)));
    rows.push(el("tr", { class: table.current === row ? "selected" : "" }, cells, el("td", null, go)));
  }
  const heads = table.columns.map(([title, figure]) => el("th", { scope: "col", class: figure ? "right" : "" }, title));
  return el("table", { class: "data" }, el("caption", null, caption), el("thead", null, el("tr", null, heads, el("th"))), el("tbody", null, rows));
}

/** The whole table as CSV; a cell that a spreadsheet would take for a formula is kept as text. */
function csvOf(table) {
  const quoted = (cell) => {
    const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [table.columns.map(([title]) => quoted(title))];
  for (let row = 0; row < table.count; row += 1) lines.push(table.cells(row).map(quoted));
  return `${lines.map((cells) => cells.join(",")).join("\r\n")}\r\n`;
}

function saveCsv(name, table) {
  const address = URL.createObjectURL(new Blob([csvOf(table)], { type: "text/csv" }));
  el("a", { href: address, download: `pantile-${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
