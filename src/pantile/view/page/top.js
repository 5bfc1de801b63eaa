// The top line and the screens: what this is, letters, language, theme, search, copying, help.

function buildTop() {
  const { head } = page;
  document.title = `${head.workload} · ${head.machine} · Pantile`;
  const letters = head.letters.map((set) => el("label", { title: set.name },
    el("input", { type: "radio", id: `letters-${set.key}`, name: "letters", value: set.key, on: { change: () => change({ x: set.key }, "push") } }),
    el("span", null, set.shown)));
  const other = Object.keys(WORDS).find((lang) => lang !== view.lang);
  const find = el("input", {
    id: "search", type: "search", "aria-label": tr("top.search"), placeholder: tr("top.search.hint"), spellcheck: "false",
    on: { input: (event) => change({ q: event.target.value }), keydown: searchKey },
  });
  fill(byId("top"),
    el("div", { class: "identity" },
      el("span", { class: "brand" }, "Pantile"),
      el("h1", null, head.workload),
      el("span", { class: "soft" }, head.machine), el("span", { class: "soft" }, head.planner)),
    el("div", { class: "controls" },
      el("div", { class: "finder", role: "search" }, find, el("span", { id: "matches", class: "soft small" })),
      hasMatrices() ? el("fieldset", { class: "segments" }, el("legend", { class: "unseen" }, tr("top.letters")), letters) : "",
      button(WORDS[other]["language.name"], () => change({ lang: other }, "push"), { id: "language", lang: other, "aria-label": `${tr("top.language")}: ${WORDS[other]["language.name"]}` }),
      button("", toggleTheme, { id: "theme" }),
      button(tr("top.link"), () => copy(location.href.split("#")[0] + addressOf(view))),
      button(tr("top.command"), () => copy(head.command), { title: head.command }),
      button(tr("top.table"), showTable, { title: `${tr("help.table")} (t)` }),
      button("?", showHelp, { "aria-label": tr("top.help"), title: tr("top.help") })));
  buildScreens();
}

function buildScreens() {
  const tabs = SCREENS.map((name, at) => button([el("span", { class: "soft" }, at + 1), " ", tr(`screen.${name}`)],
    () => change({ s: name }, "push"), { role: "tab", id: `tab-${name}`, "aria-controls": name }));
  for (const tab of tabs) tab.addEventListener("keydown", tabKey);
  fill(byId("screens"), el("div", { role: "tablist", "aria-label": tr("screens"), "aria-orientation": "vertical" }, tabs));
}

/** Arrows move between the tabs, as tab lists do. */
function tabKey(event) {
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  const at = SCREENS.indexOf(view.s);
  let next = at + (steps[event.key] || 0);
  if (event.key === "Home") next = 0;
  if (event.key === "End") next = SCREENS.length - 1;
  if (next === at && !(event.key in steps)) return;
  event.preventDefault();
  next = (next + SCREENS.length) % SCREENS.length;
  change({ s: SCREENS[next] }, "push");
  byId(`tab-${SCREENS[next]}`).focus();
}

/** Enter in the search goes to the next match, Shift+Enter to the previous one. */
function searchKey(event) {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  gotoMatch(event.shiftKey ? -1 : 1);
}

const darkQuery = matchMedia("(prefers-color-scheme: dark)");

function effectiveTheme() {
  return view.th || (darkQuery.matches ? "dark" : "light");
}

function toggleTheme() {
  change({ th: effectiveTheme() === "dark" ? "light" : "dark" }, "push");
}

function drawTop() {
  for (const radio of byId("top").querySelectorAll("input[name=letters]")) radio.checked = radio.value === letterSet().key;
  byId("theme").textContent = tr(effectiveTheme() === "dark" ? "top.light" : "top.dark");
  for (const name of SCREENS) {
    const tab = byId(`tab-${name}`);
    tab.setAttribute("aria-selected", name === view.s);
    tab.tabIndex = name === view.s ? 0 : -1;
    byId(name).classList.toggle("current", name === view.s);
  }
  const find = byId("search");
  if (document.activeElement !== find) find.value = view.q;
  const { matches, bad } = search();
  const at = matches.indexOf(view.op) + 1;
  let words = "";
  if (bad) words = tr("search.bad", { text: bad });
  else if (view.q.trim()) words = matches.length ? tr("top.matches", { at: at || "–", count: matches.length }) : tr("top.nomatch");
  fill(byId("matches"), words);
  find.setAttribute("aria-invalid", Boolean(bad));
}

/** Copy a text; where the browser refuses, show it for copying by hand. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say(tr("copied"));
  } catch {
    const area = el("textarea", { rows: 3, readonly: true }, text);
    openDialog("copy", tr("top.command"), el("p", null, tr("copy.failed")), area);
    area.select();
  }
}
