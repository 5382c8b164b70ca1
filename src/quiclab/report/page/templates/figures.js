"use strict";
// Draws the figures that a page carries as JSON, in the theme of the reader, each when it comes near the screen. A
// curve has all its points: where more are in view than there are pixels, the first, the last, the least and the
// greatest of each pixel are drawn, which looks the same, and zooming in draws more of them.
const Figures = (() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const themes = read("themes");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // The buttons come with a mouse, which can be elsewhere again: under a finger they would stay and hide the figure.
  const mouse = matchMedia("(hover: hover)").matches;
  const config = { displaylogo: false, responsive: true, displayModeBar: mouse ? "hover" : false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
  // The buttons of a small figure would lie over its title.
  const small = { ...config, modeBarButtons: [["toImage", "resetScale2d"]] };
  const MOST = 4000, PIXELS = 1000, ROWS = 250;
  const COLUMNS = ["x", "y", "customdata", "text", "hovertext", "marker.color", "marker.size", "marker.symbol"];
  let elements = [];
  const drawn = new Map();
  const after = new Map();
  const from = new Map();
  let paper = false;

  function themed(layout = {}) {
    const theme = themes[dark.matches && !paper ? "dark" : "light"];
    const axes = ["xaxis", "yaxis", ...Object.keys(layout).filter((name) => /^[xy]axis\d+$/.test(name))];
    const lines = axes.flatMap((name) => ["grid", "line", "zeroline"].map((what) => [`${name}.${what}color`, theme.line]));
    return { "font.color": theme.ink, "font.family": "system-ui, sans-serif", "hoverlabel.bgcolor": theme.raised,
      "hoverlabel.bordercolor": theme.line, "hoverlabel.font.color": theme.ink, "hoverlabel.align": "left",
      ...Object.fromEntries(lines) };
  }

  // Breaks the lines of a title into the room that there is, and makes room for them: plotly does neither.
  const ruler = document.createElement("canvas").getContext("2d");
  function broken(text, room, size) {
    ruler.font = `600 ${size}px system-ui, sans-serif`;
    const width = (part) => ruler.measureText(part.replace(/<[^>]*>/g, "")).width;
    return text.split("<br>").flatMap((line) => {
      const lines = [""];
      for (const word of line.match(/(?:<[^>]*>|[^ <])+ ?| /g) || []) {
        if (lines.at(-1) && width(lines.at(-1) + word.trimEnd()) > room) lines.push("");
        lines[lines.length - 1] += word;
      }
      return lines;
    });
  }
  function fitted(layout, room) {
    const { title, height } = layout;
    if (!title?.text) return;
    const lines = broken(title.text, room - 16, title.font?.size || 13);
    const more = 18 * (lines.length - title.text.split("<br>").length), below = title.yanchor === "top";
    title.text = lines.join("<br>");
    layout.height += more;
    layout.margin[below ? "b" : "t"] += more;
    title.y = below ? (title.y * height + more) / layout.height : 1 - ((1 - title.y) * height) / layout.height;
  }

  // put(layout, "font.color", "black")
  function put(whole, name, value) {
    const keys = name.split("."), last = keys.pop();
    keys.reduce((inner, key) => (inner[key] ??= {}), whole)[last] = value;
  }

  async function unzipped(text) {
    const zipped = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Undoes what column_packing.py did.
  async function unpacked({ data, scale, width, values, gaps }, points) {
    const bytes = await unzipped(data);
    const numbers = new Float64Array(points);
    if (scale === 0) {
      const raw = new Uint8Array(numbers.buffer);
      for (let place = 0; place < points; place++)
        for (let byte = 0; byte < 8; byte++) raw[place * 8 + byte] = bytes[byte * points + place];
    } else {
      let whole = 0;
      for (let place = 0; place < points; place++) {
        let step = 0;
        for (let byte = width - 1; byte >= 0; byte--) step = step * 256 + bytes[byte * points + place];
        whole += step % 2 ? -(step + 1) / 2 : step / 2;
        numbers[place] = whole / scale;
      }
    }
    for (const place of gaps || []) numbers[place] = NaN;
    return values ? Array.from(numbers, (code) => values[code]) : numbers;
  }

  const part = (trace, name) => name.split(".").reduce((place, key) => place?.[key], trace);

  async function wholeCurves(figure) {
    const curves = [];
    for (const [place, trace] of figure.data.entries()) {
      if (typeof trace.points !== "number") continue;  // a violin has "all"
      const columns = {};
      for (const name of COLUMNS) {
        const value = part(trace, name);
        if (value?.packed) columns[name] = await unpacked(value.packed, trace.points);
      }
      let sorted = typeof columns.x[0] === "number";
      for (let i = 1; sorted && i < trace.points; i++) sorted = columns.x[i] >= columns.x[i - 1];
      curves.push({ place, columns, points: trace.points, sorted, lines: (trace.mode || "lines").includes("lines") });
    }
    return curves;
  }

  // The first place whose x is not below.
  function placeOf(x, value) {
    let low = 0, high = x.length;
    while (low < high) { const middle = (low + high) >> 1; if (x[middle] < value) low = middle + 1; else high = middle; }
    return low;
  }

  // Places of the points to draw between two values of x; all of them where they are few.
  function chosen({ columns: { x, y }, points, sorted, lines }, range) {
    const first = sorted && range ? Math.max(0, placeOf(x, range[0]) - 1) : 0;
    const end = sorted && range ? Math.min(points, placeOf(x, range[1]) + 2) : points;
    const all = () => Array.from({ length: end - first }, (_, i) => first + i);
    if (end - first <= MOST || !sorted) return all();
    const from = Math.max(x[first], range ? range[0] : x[first]);
    const step = ((range ? Math.min(range[1], x[end - 1]) : x[end - 1]) - from) / PIXELS || 1;
    const pixel = (place) => Math.max(-1, Math.min(PIXELS, Math.floor((x[place] - from) / step)));
    const kept = [];
    if (lines) {
      for (let start = first; start < end;) {
        const here = pixel(start);
        let least = -1, greatest = -1, gap = -1, stop = start;
        for (; stop < end && pixel(stop) === here; stop++) {
          if (!Number.isFinite(y[stop])) { if (gap < 0) gap = stop; continue; }
          if (least < 0 || y[stop] < y[least]) least = stop;
          if (greatest < 0 || y[stop] > y[greatest]) greatest = stop;
        }
        const places = [start, least, greatest, gap, stop - 1].filter((place) => place >= 0);
        kept.push(...[...new Set(places)].sort((a, b) => a - b));
        start = stop;
      }
      return kept;
    }
    let low = Infinity, high = -Infinity;
    if (typeof y[0] === "number")
      for (let i = first; i < end; i++) { if (y[i] < low) low = y[i]; if (y[i] > high) high = y[i]; }
    const row = (value) => (typeof value === "number" ? Math.floor(((value - low) / (high - low || 1)) * ROWS) : value);
    const seen = new Set();
    for (let i = first; i < end; i++) {
      const mark = `${pixel(i)} ${row(y[i])}`;
      if (!seen.has(mark)) { seen.add(mark); kept.push(i); }
    }
    return kept;
  }

  const unknown = (value) => typeof value === "number" && !Number.isFinite(value);
  const taken = (column, places) => places.map((place) => (unknown(column[place]) ? null : column[place]));

  function inView(curves, range) {
    const changes = {}, places = [];
    let shown = 0, of = 0;
    for (const [number, curve] of curves.entries()) {
      const keep = chosen(curve, range);
      shown += keep.length;
      of += curve.points;
      places.push(curve.place);
      for (const name of Object.keys(curve.columns)) (changes[name] ||= [])[number] = taken(curve.columns[name], keep);
    }
    return { changes, places, shown, of };
  }

  function tell(element, { shown, of }) {
    const note = document.querySelector(`[data-note="${element.dataset.figure}"]`);
    if (note) note.textContent = shown >= of ? "" : `${shown.toLocaleString("en")} of ${of.toLocaleString("en")} ` +
      "points are drawn: the first, the last, the least and the greatest of each pixel. Zoom in for all of them.";
  }

  // One after the other with a breath between: the first is seen while the next is made.
  let last = Promise.resolve();
  const breath = () => new Promise((taken) => setTimeout(taken));
  function draw(element) {
    if (!drawn.has(element)) {
      // A print does not wait.
      const work = paper ? begin(element) : last.then(breath).then(() => begin(element));
      drawn.set(element, work);
      last = work.catch(() => {});
    }
    return drawn.get(element);
  }

  async function begin(element) {
    const name = element.dataset.figure;
    const figure = (from.get(name) || read)(name);
    const curves = await wholeCurves(figure);
    const view = inView(curves, null);
    view.places.forEach((place, number) => {
      for (const [column, values] of Object.entries(view.changes)) {
        if (values[number] !== undefined) put(figure.data[place], column, values[number]);
      }
    });
    fitted(figure.layout, (element.closest(".scroll") || element).clientWidth);
    element.style.height = `${figure.layout.height}px`;
    if (element.dataset.least) element.style.minWidth = `${element.dataset.least}px`;
    delete figure.layout.height;
    Object.entries(themed(figure.layout)).forEach(([key, value]) => put(figure.layout, key, value));
    await Plotly.newPlot(element, figure.data, figure.layout, name.startsWith("cell-") ? small : config);
    if (curves.some((curve) => curve.points > MOST)) {
      tell(element, view);
      element.on("plotly_relayout", (change) => {
        if (!Object.keys(change).some((key) => key.startsWith("xaxis."))) return;
        const { range, autorange } = element.layout.xaxis;
        const seen = inView(curves, change["xaxis.autorange"] || autorange ? null : range.map(Number));
        tell(element, seen);
        Plotly.restyle(element, seen.changes, seen.places);
      });
    }
    if (after.has(name)) await after.get(name)(element);
    element.dataset.drawn = "yes";
  }

  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "800px" });
  // The rest when there is nothing else to do, so that a print has them all. What is not shown has no width to draw in.
  const idle = self.requestIdleCallback || ((act) => setTimeout(act, 50));
  const shown = (element) => element.getClientRects().length > 0;
  const rest = () => {
    const next = elements.find((element) => !drawn.has(element) && shown(element));
    if (next) draw(next).finally(() => idle(rest));
  };
  // Figures that a page has, or gets, in `place`; and those that go from it.
  function add(place) {
    const known = new Set(elements);
    const found = [...place.querySelectorAll("[data-figure]:not([data-drawn])")].filter((each) => !known.has(each));
    elements.push(...found);
    found.forEach((element) => near.observe(element));
    if (document.readyState === "complete") idle(rest);
  }
  function remove(place) {
    const [gone, left] = [true, false].map((inside) => elements.filter((each) => place.contains(each) === inside));
    gone.forEach((element) => { near.unobserve(element); drawn.delete(element); Plotly.purge(element); });
    elements = left;
  }
  add(document);
  addEventListener("load", () => idle(rest));
  const all = (change, which = () => true) => drawn.forEach((work, element) => {
    if (!which(element)) return;
    if (element.dataset.drawn) Plotly.relayout(element, change(element));
    else work.then(() => Plotly.relayout(element, change(element)));
  });
  dark.addEventListener("change", () => all((element) => themed(element.layout)));
  addEventListener("beforeprint", () => {
    paper = true;
    document.body.classList.add("paper");
    // Paper does not scroll: a figure that needs more width is drawn smaller.
    elements.filter((element) => element.dataset.least && shown(element)).forEach((element) =>
      (element.style.zoom = Math.min(1, element.parentElement.clientWidth / element.dataset.least)));
    elements.filter(shown).forEach(draw);
    all((element) => ({ ...themed(element.layout), width: element.clientWidth, height: element.clientHeight }), shown);
  });
  addEventListener("afterprint", () => {
    paper = false;
    document.body.classList.remove("paper");
    elements.forEach((element) => (element.style.zoom = ""));
    all((element) => ({ ...themed(element.layout), width: null, height: null, autosize: true }), shown);
  });
  // As before: those near the screen first, the others when there is nothing else to do.
  function redraw(those) {
    those.forEach((element) => {
      drawn.delete(element);
      delete element.dataset.drawn;
      near.unobserve(element);
      near.observe(element);
    });
    idle(rest);
  }
  // In a single file the pages of pairs are parts of it, some of which may be left out.
  const single = "single" in document.body.dataset;
  const partOf = (file) => document.querySelector(`[data-part="${CSS.escape(file)}"]`);
  const pageOf = (file) => (!file || !single ? file : partOf(file) ? `#${file}` : null);
  // `whenDrawn(name, act)`: what a page adds to a figure of its own. `drawnFrom(name, figure)`: what it draws instead of
  // the JSON of that name.
  return { read, draw, redraw, add, remove, unzipped, unpacked, config, partOf, pageOf, whenDrawn: (name, act) => after.set(name, act),
    drawnFrom: (name, figure) => from.set(name, figure) };
})();
