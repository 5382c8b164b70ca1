"use strict";
// The pages of pairs in a single file: each is a compressed part of it, unpacked when a link leads there.
(() => {
  const { add, remove, unzipped, partOf } = Figures;
  const place = document.getElementById("part");
  const report = [...document.body.children].filter((each) => each !== place && each.tagName !== "SCRIPT");
  const title = document.title;
  let scrolled = 0;

  const asked = () => decodeURIComponent(location.hash.slice(1)).split("#");

  // The pages of a cell are packed together: once unpacked, the next is there at once.
  const groups = new Map();
  function groupOf(part) {
    const { group } = part.dataset;
    if (!groups.has(group)) groups.set(group, unzipped(document.getElementById(group).textContent)
      .then((bytes) => JSON.parse(new TextDecoder().decode(bytes))));
    return groups.get(group);
  }

  async function follow() {
    const [name, anchor] = asked();
    const part = partOf(name);
    if (part && place.dataset.shown !== name) {
      const { pages, data } = await groupOf(part);
      if (asked()[0] !== name) return;  // another link was followed meanwhile
      show(name, pages[name], data[name], part.dataset.title);
    } else if (!part && place.dataset.shown) {
      show("", "", {}, title);
      scrollTo(0, scrolled);
    }
    document.getElementById(part ? anchor : name)?.scrollIntoView();
  }

  function show(name, text, data, words) {
    if (!place.dataset.shown) scrolled = scrollY;
    remove(place);
    place.innerHTML = text;
    for (const [id, figure] of Object.entries(data)) place.querySelector(`[id="${CSS.escape(id)}"]`).textContent = figure;
    place.dataset.shown = name;
    place.hidden = !name;
    report.forEach((each) => (each.hidden = Boolean(name)));
    document.title = words;
    if (name) scrollTo(0, 0);
    add(name ? place : document);
    dispatchEvent(new Event("resize"));  // figures of the report may have missed one
  }

  addEventListener("hashchange", follow);
  follow();
})();
