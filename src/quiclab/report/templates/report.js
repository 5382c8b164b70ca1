"use strict";
// What the page of a study adds to its figures: a map that leads to pairs, and the pair whose bytes are shown.
(() => {
  const { read, draw, config, whenDrawn } = Figures;
  // A cell of a map opens on its pairs.
  document.querySelectorAll('#map [data-figure]').forEach((map) => whenDrawn(map.dataset.figure, (element) =>
    element.on("plotly_click", ({ points: [{ data, pointIndex: [row, column] }] }) => {
      const file = data.meta.opens[row][column];
      if (file) location.href = file;
    })));

  // The selectable pair: bytes acknowledged of the trials of one block.
  if (!document.getElementById("selector")) return;
  const { arms, cells, curves, open, points_per_curve: limit } = read("selector");
  const template = read("curves").data;
  const chooseCell = document.getElementById("choose-cell");
  const chooseView = document.getElementById("choose-view");
  const options = (select, entries) =>
    select.replaceChildren(...entries.map((entry, index) => new Option(entry.title, index)));

  function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Float32Array(bytes.buffer);
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
      `. At most ${limit} points of a curve are drawn.`;
    const page = document.getElementById("chosen-page");
    page.hidden = !view.page;
    page.querySelector("a").href = view.page || "";
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
    document.getElementById("bytes").scrollIntoView({ behavior: "smooth" });
    draw(document.querySelector('[data-figure="curves"]')).then(showCurves);
  }

  document.querySelectorAll('#distributions [data-figure]').forEach((cell) =>
    whenDrawn(cell.dataset.figure, (element) => element.on("plotly_click", openTrial)));
  whenDrawn("curves", showCurves);
  options(chooseCell, cells);
  chooseCell.value = open;
  options(chooseView, cells[open].views);
  chooseCell.addEventListener("change", () => { options(chooseView, cells[chooseCell.value].views); showCurves(); });
  chooseView.addEventListener("change", showCurves);
})();
