"use strict";
// The page of `quiclab view`: asks its server how far the study is, and for rows of its tables when it has stopped.
(() => {
  const AGAIN_MS = 2000, SHOWN_MS = 60_000;
  const place = (id) => document.getElementById(id);
  const { made, table, stacked } = Tables;
  const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
  const long = (ms) => (ms < SHOWN_MS ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

  async function got(path, options) {
    const answer = await fetch(path, options);
    const found = await answer.json();
    if (!answer.ok) throw new Error([found.error, found.hint].filter(Boolean).join(": "));
    return found;
  }
  const failed = (where) => (error) => place(where).replaceChildren(made("p", { className: "caution", textContent: error.message }));

  const KINDS = ["verified", "failed", "unproven", "void", "damaged", "not_run"];
  const NAMES = { void: "invalid, run again", not_run: "not run" };
  function showRun(state) {
    document.title = place("name").textContent = state.name;
    place("run").hidden = !state.trials;
    if (!state.trials) {
      place("told").textContent = state.running ? "A run begins." : "Tables of a study, without its ledger.";
      return;
    }
    const { trials, cells, trouble } = state, over = trials.planned - trials.void - trials.not_run;
    const rest = long(state.left_ms), open = over < trials.planned;
    const left = !open ? "" : state.running ? `, about ${rest} left` : `; no run works on it, and the rest takes about ${rest}`;
    place("told").textContent = `${over} of ${counted(trials.planned, "trial")} over${left}.`;
    Object.assign(place("progress"), { max: trials.planned || 1, value: over });
    const now = state.under_way, waits = Object.entries(state.pressure_pct).map(([name, share]) => `${name} ${share.toFixed(0)} %`);
    place("now").hidden = !state.running || !(now || waits.length);
    place("now").textContent = [now && `Now: ${now.join(", ") || "–"}.`,
      waits.length && `Waited for in the last 10 s: ${waits.join(", ")}.`].filter(Boolean).join(" ");
    const kinds = KINDS.filter((kind) => kind === "verified" || kind === "not_run" || trials[kind]);
    place("cells").replaceChildren(table(["cell", "arm", "planned", ...kinds.map((kind) => NAMES[kind] || kind)],
      cells.map((cell) => [cell.cell_id, cell.arm, cell.trials.planned, ...kinds.map((kind) => cell.trials[kind] || "–")]), 2));
    place("trouble").replaceChildren(...(trouble.length ? [made("h2", { textContent: "What went wrong, attempts that were run again included" }),
      stacked(table(["attempts", "ended", "the latest", "where"],
        trouble.map((each) => [`${each.attempts} ×`, NAMES[each.status] ? "invalid" : each.status, each.reason, each.latest])))] : []));
  }

  let trials = null;
  async function showResults(state) {
    place("results").hidden = false;
    place("pages").replaceChildren(...(state.pages.length ? state.pages.flatMap((page) => [made("a", { href: `study/${page}`, textContent: page }), " "]) :
      ["There is none yet: quiclab report makes it."]));
    trials = await got("trials");
    place("trial").replaceChildren(...trials.map((each) => made("option", { value: each.trial_id,
      textContent: `${each.cell_id} ${each.arm} block ${each.block} (${each.status})` })));
    chooseTables();
  }
  function chooseTables() {
    const before = place("table").value, trial = trials.find((each) => each.trial_id === place("trial").value);
    place("table").replaceChildren(...(trial?.tables || []).map((name) => made("option", { value: name, textContent: name })));
    if (trial?.tables.includes(before)) place("table").value = before;
    else if (trial?.tables.includes("packets")) place("table").value = "packets";
  }
  async function showRows(offset = 0) {
    const asked = new URLSearchParams({ trial: place("trial").value, table: place("table").value, search: place("search").value, offset });
    const { columns, rows, of } = await got(`rows?${asked}`);
    const step = (to, text) => made("button", { type: "button", textContent: text, disabled: to < 0 || to >= of, onclick: () => showRows(to).catch(failed("rows")) });
    const told = of ? `${counted(of, "row")}; ${offset + 1} to ${offset + rows.length}:` : "No row.";
    place("rows").replaceChildren(made("p", { textContent: told }), ...(of ? [table(columns, rows)] : []),
      ...(of > rows.length ? [made("p", { className: "choose" }, step(offset - 200, "earlier"), step(offset + 200, "later"))] : []));
  }
  place("trial").addEventListener("change", chooseTables);
  place("choose").addEventListener("submit", (event) => { event.preventDefault(); showRows().catch(failed("rows")); });
  place("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { columns, rows, of } = await got("sql", { method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ query: place("query").value }) });
      const told = of > rows.length ? `The first ${rows.length} of ${counted(of, "row")}:` : `${counted(of, "row")}:`;
      place("answer").replaceChildren(made("p", { textContent: told }), table(columns, rows));
    } catch (error) { failed("answer")(error); }
  });

  let wasRunning = null;
  async function follow() {
    try {
      const state = await got("state");
      showRun(state);
      if (state.running) place("results").hidden = true;
      else if (wasRunning !== false && !state.watch) await showResults(state).catch(failed("rows"));
      wasRunning = state.running;
    } catch (error) {
      place("told").textContent = error instanceof TypeError ?
        `${place("told").textContent} The command has ended: this page stays as it was, and quiclab view STUDY shows the results.` : error.message;
      if (error instanceof TypeError) return;
    }
    setTimeout(follow, AGAIN_MS);
  }
  follow();
})();
