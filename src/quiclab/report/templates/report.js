"use strict";
// Draws the figures that the page carries as JSON, in the theme of the reader, each when it comes near the screen.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const themes = read("themes");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const config = { displaylogo: false, responsive: true, displayModeBar: "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
  // The buttons of a small figure would lie over its title.
  const small = { ...config, modeBarButtons: [["toImage", "resetScale2d"]] };
  const figures = [...document.querySelectorAll("[data-figure]")];
  const drawn = new Set();
  let paper = false;

  function themed() {
    const theme = themes[dark.matches && !paper ? "dark" : "light"];
    const axis = (name) => ({ [`${name}.gridcolor`]: theme.line, [`${name}.linecolor`]: theme.line,
      [`${name}.zerolinecolor`]: theme.line });
    return { "font.color": theme.ink, "font.family": "system-ui, sans-serif", "hoverlabel.bgcolor": theme.raised,
      "hoverlabel.bordercolor": theme.line, "hoverlabel.font.color": theme.ink, "hoverlabel.align": "left",
      ...axis("xaxis"), ...axis("yaxis") };
  }

  async function draw(element) {
    if (drawn.has(element)) return;
    drawn.add(element);
    const figure = read(element.dataset.figure);
    element.style.height = `${figure.layout.height}px`;
    delete figure.layout.height;
    const isCell = element.dataset.figure.startsWith("cell-");
    await Plotly.newPlot(element, figure.data, figure.layout, isCell ? small : config);
    await Plotly.relayout(element, themed());
    if (isCell) element.on("plotly_click", openTrial);
    if (element.dataset.figure === "curves") await showCurves();
    element.dataset.drawn = "yes";
  }

  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "800px" });
  figures.forEach((element) => near.observe(element));
  const retheme = () => [...drawn].forEach((element) => Plotly.relayout(element, themed()));
  dark.addEventListener("change", retheme);
  addEventListener("beforeprint", () => {
    paper = true;
    document.body.classList.add("paper");
    figures.forEach(draw);
    figures.forEach((element) =>
      Plotly.relayout(element, { ...themed(), width: element.clientWidth, height: element.clientHeight }));
  });
  addEventListener("afterprint", () => {
    paper = false;
    document.body.classList.remove("paper");
    figures.forEach((element) => Plotly.relayout(element, { ...themed(), width: null, height: null, autosize: true }));
  });

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

  options(chooseCell, cells);
  chooseCell.value = open;
  options(chooseView, cells[open].views);
  chooseCell.addEventListener("change", () => { options(chooseView, cells[chooseCell.value].views); showCurves(); });
  chooseView.addEventListener("change", showCurves);
})();
