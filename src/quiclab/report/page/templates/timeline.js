"use strict";
// The critical path on the page of a pair: it is drawn finer where a reader zooms, and every stretch of it opens the
// packets behind it, by a click, or by the buttons of the table of waits.
(() => {
  const { read, draw, unpacked, whenDrawn, pageOf } = Figures;
  const { made, table } = Tables;
  const MOST_ROWS = 200;
  const ms = (value, digits = 3) => value.toFixed(digits).replace("-", "−");
  const busy = (name) => name === "link_busy" || name === "part-arriving";
  const part = (text) => String(text).replaceAll("_", " ");

  // Spells of at least `least`, each by itself, and heaps of shorter ones: as _heaps.py does it.
  function heaps({ from, until, why, whys }, least, range) {
    const begin = (place) => (place ? until[place - 1] : from[0]);
    const found = [];
    const heap = (first, last) => {
      const lengths = new Map();
      for (let place = first; place <= last; place++) {
        const name = whys[why[place]];
        lengths.set(name, (lengths.get(name) || 0) + until[place] - begin(place));
      }
      const whole = until[last] - begin(first) || 1;
      const order = [...lengths.keys()].sort((a, b) => busy(b) - busy(a) || (a < b ? -1 : 1));
      const parts = new Map();
      let below = 0;
      for (const name of order) { parts.set(name, [below, lengths.get(name) / whole]); below += lengths.get(name) / whole; }
      found.push({ first, last, from: begin(first), until: until[last], parts });
    };
    let first = 0, end = until.length;
    if (range) {
      while (first < end && until[first] < range[0]) first++;
      while (end > first && begin(end - 1) > range[1]) end--;
    }
    for (let place = first; place < end; place++) {
      if (until[place] - begin(place) >= least) {
        if (first < place) heap(first, place - 1);
        heap(place, place);
        first = place + 1;
      } else if (until[place] - begin(first) >= least) { heap(first, place); first = place + 1; }
    }
    if (first < end) heap(first, end - 1);
    return found;
  }

  function redrawn(element, range) {
    const { bands, columns } = element.layout.meta;
    const shown = range || [0, Math.max(...bands.map((band) => band.until.at(-1)))];
    const span = shown[1] - shown[0];
    const least = span / Math.min(columns, Math.max(60, element.clientWidth / 3));
    const of = bands.map((band) => heaps(band, least, range));
    const changes = { x: [], width: [], base: [], y: [], text: [], hovertext: [], customdata: [] }, places = [];
    element.data.forEach((trace, place) => {
      if (!trace.meta?.why) return;
      const { band, why } = trace.meta, { whys, headings } = bands[band], heading = headings[whys.indexOf(why)];
      const own = of[band].filter((heap) => heap.parts.has(why));
      const visible = (heap) => Math.min(heap.until, shown[1]) - Math.max(heap.from, shown[0]);
      const told = (heap) => {
        const whole = heap.until - heap.from, share = heap.parts.get(why)[1] * whole;
        return `${heading}: ${ms(share, 2)} ms${heap.parts.size > 1 ? ` of ${ms(whole, 2)} ms` : ""}<br>` +
          `${ms(heap.from, 2)} to ${ms(heap.until, 2)} ms`;
      };
      places.push(place);
      changes.x.push(own.map((heap) => (heap.from + heap.until) / 2));
      changes.width.push(own.map((heap) => heap.until - heap.from));
      changes.base.push(own.map((heap) => heap.parts.get(why)[0]));
      changes.y.push(own.map((heap) => heap.parts.get(why)[1]));
      changes.text.push(own.map((heap) => (heap.parts.size === 1 && visible(heap) >= 0.08 * span ? heading : "")));
      changes.hovertext.push(own.map(told));
      changes.customdata.push(own.map((heap) => [heap.first, heap.last]));
    });
    return Plotly.restyle(element, changes, places);
  }

  for (const name of ["timeline", "median-timeline"]) whenDrawn(name, async (element) => {
    element.on("plotly_relayout", (change) => {
      const axes = Object.keys(change).filter((key) => /^xaxis\d*\./.test(key));
      if (!axes.length) return;
      const { range, autorange } = element.layout.xaxis;
      redrawn(element, autorange || axes.some((key) => key.endsWith("autorange")) ? null : range.map(Number));
    });
    element.on("plotly_click", ({ points: [point] }) => {
      const { band, why, event } = point.data.meta || {}, file = pageOf(element.layout.meta.opens);
      if (file) location.href = `${file}#figure-timeline`;
      else if (event) showEvent(band, point.customdata);
      else if (why) showSpells(band, why, ...point.customdata);
    });
    // A legend of many lines, as on a phone, takes nothing of the bands.
    const legend = element.querySelector(".legend")?.getBoundingClientRect().height || 0;
    if (legend > 60) {
      element.style.height = `${element.clientHeight + legend - 60}px`;
      await Plotly.Plots.resize(element);
    }
    await redrawn(element, null);
  });

  // What lies behind: the edges and packets of both arms, unpacked once for each page.
  const unfolded = new WeakMap();
  async function arms() {
    const place = document.getElementById("timeline-data");
    if (!place?.textContent) return null;
    if (!unfolded.has(place)) unfolded.set(place, (async () => {
      const data = JSON.parse(place.textContent);
      const columns = async ({ points, ...packed }) => Object.fromEntries(await Promise.all(
        Object.entries(packed).map(async ([name, value]) => [name, await unpacked(value, points)])));
      for (const arm of data.arms) {
        arm.edges = await columns(arm.edges);
        arm.packets = await columns(arm.packets);
        const { why, until } = arm.edges;
        arm.spells = [];
        for (let edge = 0; edge < why.length; edge++) {
          if (!edge || why[edge] !== why[edge - 1]) arm.spells.push({ why: why[edge], first: edge, from: edge ? until[edge - 1] : 0 });
          Object.assign(arm.spells.at(-1), { last: edge, until: until[edge] });
        }
      }
      return data;
    })());
    return unfolded.get(place);
  }

  const at = (µs, digits = 3) => (µs === null || Number.isNaN(µs) ? "–" : ms(µs / 1e3, digits));
  const headed = (name) => document.querySelector(`[data-reason="${name}"]`)?.textContent || part(name);
  const button = (text, act, off = false) => made("button", { type: "button", textContent: text, onclick: act, disabled: off });

  // A figure by itself has no place for packets, and a single file lists those of median trials only.
  function unlisted() {
    if (document.getElementById("timeline-packets")) shown(made("p", { textContent:
      "The packets of these trials are not in this file: the page of the pair in the study’s folder lists them." }));
  }

  function shown(...children) {
    const panel = document.getElementById("timeline-packets");
    panel.replaceChildren(...children);
    panel.hidden = false;
    panel.scrollIntoView({ block: "nearest" });
    panel.focus({ preventScroll: true });
  }

  // A heap: the stretches with one reason in it; the only one at once.
  async function showSpells(band, why, first, last) {
    const data = await arms();
    if (!data) return unlisted();
    const { arm, spells } = data.arms[band];
    const own = spells.map((spell, place) => ({ ...spell, place })).slice(first, last + 1).filter((spell) => spell.why === why);
    if (own.length === 1) return showPackets(band, own[0].place);
    const rows = own.map((spell) => [at(spell.from), at(spell.until), at(spell.until - spell.from),
      button("packets", () => showPackets(band, spell.place))]);
    shown(made("h3", { textContent: `${arm}: ${own.length} × ${headed(why)}` }),
      made("p", { textContent: `Between ${at(spells[first].from)} and ${at(spells[last].until)} ms, ` +
        `${at(own.reduce((sum, spell) => sum + spell.until - spell.from, 0))} ms in all:` }),
      table(["from, ms", "until, ms", "ms", ""], rows, 0));
  }

  async function showEvent(band, edge) {
    const data = await arms();
    const spells = data?.arms[band].spells || [];
    const place = spells.findIndex((spell) => spell.first <= edge && edge <= spell.last);
    if (place >= 0) showPackets(band, place);
  }

  // Places of packets, with what each is to the stretch.
  function behind({ edges, packets, links, way }, spell) {
    const roles = new Map();
    const placeOf = new Map();
    packets.index.forEach((index, place) => placeOf.set(`${packets.direction[place]} ${index} ${packets.link[place]}`, place));
    const add = (place, role) => { if (place !== undefined) roles.set(place, [...new Set([...(roles.get(place) || []), role])]); };
    for (let edge = spell.first; edge <= spell.last; edge++) {
      const from = edge ? edges.until[edge - 1] : 0;
      if (edges.packets[edge] !== null && !Number.isNaN(edges.packets[edge])) {
        packets.left.forEach((left, place) => {
          if (packets.direction[place] === edges.direction[edge] && packets.link[place] === edges.link[edge] &&
            left > from && left <= edges.until[edge]) add(place, part(edges.what[edge]));
        });
      } else add(placeOf.get(`${edges.direction[edge]} ${edges.packet_index[edge]} ${edges.link[edge]}`), part(edges.what[edge]));
      const lostAt = way === "up" ? 0 : links.length - 1;
      add(placeOf.get(`${way} ${edges.event_packet[edge]} ${lostAt}`), "its loss tightened the window");
    }
    return [...roles].sort(([a], [b]) => a - b);
  }

  const zoomed = (spell) => button("Show this place in the timeline", async () => {
    const element = document.querySelector('[data-figure="timeline"]'), room = (spell.until - spell.from) / 1e3;
    await draw(element);
    await Plotly.relayout(element, { "xaxis.range": [Math.max(0, spell.from / 1e3 - room), spell.until / 1e3 + room] });
    element.scrollIntoView({ block: "center" });
  });
  const some = (rows, all) => (all || rows.length <= MOST_ROWS ? rows : [...rows.slice(0, MOST_ROWS / 2), ...rows.slice(-MOST_ROWS / 2)]);
  const theRest = (kept, own, act) => (kept.length < own.length ? [made("p", {}, `The first and the last ${MOST_ROWS / 2}. `,
    button(`Show all ${own.length}`, act))] : []);

  // Place of the next wait in a direction.
  function waitFrom(spells, place, step) {
    let next = place + step;
    while (spells[next] && busy(spells[next].why)) next += step;
    return next;
  }

  // A recording of one end: the packets that it has of this time, and of the one that ended a wait.
  function showRecorded(data, band, place, all) {
    const { arm, spells, edges, packets } = data.arms[band], spell = spells[place];
    const [before, after] = [waitFrom(spells, place, -1), waitFrom(spells, place, 1)], own = [];
    packets.came.forEach((came, number) => {
      if (came >= spell.from && came <= edges.seen[spell.last]) own.push(number);
    });
    const kept = some(own, all);
    const rows = kept.map((number) => [packets.direction[number] === "up" ? "client → server" : "server → client",
      packets.label[number] || "", at(packets.came[number]), packets.bytes[number], packets.number[number]]);
    shown(made("h3", { textContent: `${arm}: ${headed(spell.why)}, ${at(spell.until - spell.from)} ms` }),
      made("p", { textContent: `${at(spell.from)} to ${at(spell.until)} ms. ${data.definitions[spell.why] || ""}` }),
      made("p", { className: "choose" }, button("Earlier wait", () => showPackets(band, before), before < 0),
        button("Later wait", () => showPackets(band, after), after >= spells.length), zoomed(spell)),
      own.length ? table(["from", "carries", "recorded, ms", "bytes", "no. in the recording"], rows, 2) :
        made("p", { textContent: "The recording has no packets of this time." }),
      ...theRest(kept, own, () => showPackets(band, place, true)));
  }

  async function showPackets(band, place, all = false) {
    const data = await arms();
    if (!data) return unlisted();
    if (data.recorded) return showRecorded(data, band, place, all);
    const { arm, spells, edges, packets, links } = data.arms[band], spell = spells[place];
    const ofLink = (link) => (links.length > 1 ? ` (link ${link + 1})` : "");
    const [before, after] = [waitFrom(spells, place, -1), waitFrom(spells, place, 1)];
    const rows = [];
    for (let edge = spell.first; edge <= spell.last; edge++) {
      const from = edge ? edges.until[edge - 1] : 0, named = edges.packet_index[edge];
      rows.push([part(edges.what[edge]), named === null || Number.isNaN(named) ? "" : `${edges.direction[edge]} ${named}${ofLink(edges.link[edge])}`,
        edges.evidence[edge], at(from), at(edges.until[edge]), at(edges.until[edge] - from)]);
    }
    const own = behind(data.arms[band], spell);
    const kept = some(own, all);
    const packetRows = kept.map(([number, roles]) => [`${packets.direction[number]} ${packets.index[number]}${ofLink(packets.link[number])}`,
      packets.label[number] || "", roles.join(", "), packets.bytes[number], at(packets.came[number]), at(packets.left[number]),
      Number.isNaN(packets.arrived[number]) ? "lost" : at(packets.arrived[number]),
      ...["client", "server"].map((end) => (Number.isNaN(packets[end][number]) ? "–" : packets[end][number]))]);
    const events = new Set();
    for (let edge = spell.first; edge <= spell.last; edge++) if (!Number.isNaN(edges.event[edge])) events.add(at(edges.event[edge]));
    shown(made("h3", { textContent: `${arm}: ${headed(spell.why)}, ${at(spell.until - spell.from)} ms` }),
      made("p", { textContent: `${at(spell.from)} to ${at(spell.until)} ms. ${data.definitions[spell.why] || ""}` +
        (events.size ? ` The window was last tightened at ${[...events].join(", ")} ms.` : "") }),
      made("p", { className: "choose" }, button("Earlier wait", () => showPackets(band, before), before < 0),
        button("Later wait", () => showPackets(band, after), after >= spells.length), zoomed(spell)),
      table(["what passes", "packet", "reason decided by", "from, ms", "until, ms", "ms"], rows, 3),
      made("h4", { textContent: own.length === 1 ? "The packet behind it" : `The ${own.length} packets behind it` }),
      table(["packet", "carries", "is", "bytes", "came to link, ms", "left bottleneck, ms", "arrived, ms",
        "no. in client’s capture", "no. in server’s"], packetRows, 3),
      ...theRest(kept, own, () => showPackets(band, place, true)));
  }

  document.addEventListener("click", ({ target }) => {
    const asked = target.closest?.("[data-spell]");
    if (asked) showPackets(Number(asked.dataset.band), Number(asked.dataset.spell));
  });
})();
