// The keyboard. Letters act only outside text fields, and can be switched off; keys with Ctrl, Alt or
// Meta belong to the browser.

const ACTIONS = {
  ArrowRight: () => goStep(1),
  ArrowLeft: () => goStep(-1),
  "Shift+ArrowRight": () => goTile(1),
  "Shift+ArrowLeft": () => goTile(-1),
  " ": togglePlay,
  Home: () => goEnd(-1),
  End: () => goEnd(1),
};

const LETTER_ACTIONS = {
  l: () => goStep(1),
  h: () => goStep(-1),
  "]": () => goStage(1),
  "[": () => goStage(-1),
  ".": () => goEngine(1),
  ",": () => goEngine(-1),
  u: followRelease,
  g: showGo,
  "/": () => byId("search").focus(),
  n: () => gotoMatch(1),
  N: () => gotoMatch(-1),
  t: showTable,
  "?": showHelp,
};

function pressed(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
  if (event.key === "Escape") return escapePressed(event);
  if (byId("dialog").open) return;
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  if (player.playing && event.key !== " ") setPlaying(false);
  action();
}

function actionOf(event) {
  const left = event.target.closest("dialog:not([open])"); // a dialog just closed may hold the focus for a frame
  const target = left ? document.body : event.target;
  const typing = target.matches("input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea, select");
  if (typing) return null;
  // Space and the arrows mean something of their own on buttons, tabs, radios and the scrubber.
  const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
  if (target.id === "list" && name === "ArrowDown") return ACTIONS.ArrowRight;
  if (target.id === "list" && name === "ArrowUp") return ACTIONS.ArrowLeft;
  if (event.key === " " && target.matches("button, summary, input")) return null;
  if (/^(Arrow|Home|End)/.test(event.key) && target.matches("[role=tab], input[type=radio]")) return null;
  if (/^(Arrow|Home|End)/.test(event.key) && target.matches("input[type=range]") && !event.shiftKey) return null;
  if (name in ACTIONS) return ACTIONS[name];
  if (view.keys !== "on") return null;
  if (/^[1-9]$/.test(event.key) && SCREENS[event.key - 1]) return () => change({ s: SCREENS[event.key - 1] }, "push");
  return Object.hasOwn(LETTER_ACTIONS, event.key) ? LETTER_ACTIONS[event.key] : null;
}

/** Esc undoes the innermost thing: playing, the search, the chosen factor. (A dialog closes itself.) */
function escapePressed(event) {
  if (byId("dialog").open) return;
  if (player.playing) setPlaying(false);
  else if (event.target.id === "search" && !view.q) event.target.blur();
  else if (view.q) {
    byId("search").value = "";
    change({ q: "" });
  } else if (view.f) change({ f: "" });
}
