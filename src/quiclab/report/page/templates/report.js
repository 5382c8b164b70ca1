"use strict";
// What the page of a study adds to its figures: a map that leads to pairs, and the pair whose bytes are shown.
(() => {
  const { read, draw, redraw, config, whenDrawn, drawnFrom, pageOf } = Figures;
  // What the maps show: numbers from 5 % on only.
  const choices = document.getElementById("choose-shown");
  const chosen = (name) => choices.querySelector(`[name=${name}]`).checked;
  const grid = (rows, value) => rows.map((row, y) => row.map((cell, x) => value(cell, y, x)));

  function showDifferences(element, coloured, title) {
    const named = (value) => value === null || !chosen("large") || Math.abs(value) >= 5;
    const numbers = grid(coloured.text, (word, y, x) => (named(coloured.z[y][x]) ? word : ""));
    const told = title + (chosen("large") ? "<br>no number: < 5 %" : "");
    return Plotly.update(element, { text: [numbers] }, { "title.text": told }, [1]);
  }

  // What is folded is unfolded where a link leads there, and on paper.
  const unfold = (element) => {
    element?.querySelectorAll("details.part").forEach((part) => (part.open = true));
    for (let at = element?.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  };
  const linked = () => unfold(document.getElementById(decodeURIComponent(location.hash.slice(1))));
  addEventListener("hashchange", linked);
  addEventListener("click", ({ target }) => target.closest?.('a[href^="#"]')?.hash === location.hash && linked());
  addEventListener("beforeprint", () => unfold(document.body), true);
  linked();

  // A cell of a map opens on its pairs.
  document.querySelectorAll('#map [data-figure]').forEach((map) => whenDrawn(map.dataset.figure, (element) => {
    const { data } = read(map.dataset.figure), title = element.layout.title.text;
    choices.addEventListener("change", () => showDifferences(element, data[1], title));
    element.on("plotly_click", ({ points: [{ data, pointIndex: [row, column] }] }) => {
      const file = pageOf(data.meta.opens[row][column]);
      if (file) location.href = file;
    });
    return showDifferences(element, data[1], title);  // a reload keeps the reader's choice
  }));

  // A bar of a waterfall of reasons opens the median trials, where that reason stands.
  document.querySelectorAll('#because [data-figure]').forEach((cell) => whenDrawn(cell.dataset.figure, (element) => {
    const { opens, places } = element.layout.meta || {}, file = pageOf(opens);
    if (file) element.on("plotly_click", ({ points: [{ y }] }) => (location.href = `${file}#${places[y] || "figure-timeline"}`));
  }));

  // The spread of a cell's trials: boxes, the same marks as violins, or shares done.
  const spread = [...document.querySelectorAll("#distributions [data-figure]")];
  const chooseShape = document.getElementById("choose-shape");
  const shapes = spread.length ? read("shapes") : {};
  function shaped(name) {
    if (chooseShape.value === "share") return read(`${name}-share`);
    const figure = read(name);
    const boxes = figure.data.filter((trace) => trace.type === "box");
    boxes.forEach((trace) => Object.assign(trace, shapes[chooseShape.value]));
    return figure;
  }
  spread.forEach((cell) => drawnFrom(cell.dataset.figure, shaped));
  chooseShape?.addEventListener("change", () => redraw(spread));

  // The selectable pair: bytes acknowledged of the trials of one block.
  if (!document.getElementById("selector")) return;
  const { arms, cells, curves, open } = read("selector");
  const template = read("curves").data;
  const chooseCell = document.getElementById("choose-cell");
  const chooseView = document.getElementById("choose-view");
  const options = (select, entries) =>
    select.replaceChildren(...entries.map((entry, index) => new Option(entry.title, index)));

  function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  }

  // What is not on this page is said where it is missing.
  function thinnedText(drawn) {
    const points = drawn.reduce((sum, curve) => sum + unpack(curve.x).length, 0);
    const of = drawn.reduce((sum, curve) => sum + curve.of, 0);
    return points === of ? "Every acknowledgment is drawn."
      : `${points.toLocaleString("en")} of ${of.toLocaleString("en")} acknowledgments are drawn here, at zoom too: ` +
        "evenly spread ones, and the ends of the longest waits.";
  }

  function showCurves() {
    const view = cells[chooseCell.value].views[chooseView.value];
    const shown = arms.map((arm, place) => [template[place], view.trials[arm]]).filter(([, trial]) => trial);
    const traces = shown.map(([trace, trial]) =>
      ({ ...trace, x: unpack(curves[trial].x), y: unpack(curves[trial].y) }));
    const without = arms.filter((arm) => !view.trials[arm]);
    document.getElementById("chosen").textContent =
      arms.filter((arm) => view.trials[arm]).map((arm) => `${arm}: trial ${view.trials[arm]}`).join(", ") +
      (without.length ? `; no curve of ${without.join(", ")}` : "") +
      `. ${thinnedText(shown.map(([, trial]) => curves[trial]))}`;
    const page = document.getElementById("chosen-page");
    const file = pageOf(view.page);
    page.hidden = !file;
    page.querySelector("a").href = file || "";
    const element = document.querySelector('[data-figure="curves"]');
    return Plotly.react(element, traces, element.layout, config);
  }

  function openTrial(event) {
    const number = Number(event.points[0].data.meta.cell);
    const block = event.points[0].customdata[0];
    if (!(number in cells)) return;
    chooseCell.value = number;
    options(chooseView, cells[number].views);
    const index = cells[number].views.findIndex((view) => view.block === block);
    if (index >= 0) chooseView.value = index;
    unfold(document.getElementById("bytes"));
    document.getElementById("bytes").scrollIntoView({ behavior: "smooth" });
    draw(document.querySelector('[data-figure="curves"]')).then(showCurves);
  }

  spread.forEach((cell) =>
    whenDrawn(cell.dataset.figure, (element) => element.on("plotly_click", openTrial)));
  whenDrawn("curves", showCurves);
  options(chooseCell, cells);
  chooseCell.value = open;
  options(chooseView, cells[open].views);
  chooseCell.addEventListener("change", () => { options(chooseView, cells[chooseCell.value].views); showCurves(); });
  chooseView.addEventListener("change", showCurves);
})();
