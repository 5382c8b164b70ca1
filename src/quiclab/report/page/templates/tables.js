"use strict";
// Elements and tables that scripts make, as the templates make theirs.
const Tables = (() => {
  const made = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // The first `words` columns are words, the others numbers; a value that is not known is a dash.
  function table(headings, rows, words = headings.length) {
    const kind = (at) => (at < words ? "" : "number");
    const head = headings.map((text, at) => made("th", { scope: "col", textContent: text, className: kind(at) }));
    const body = rows.map((row) => made("tr", {}, ...row.map((value, at) =>
      made("td", { className: kind(at) }, made("div", {}, value instanceof Node ? value : value === null ? "–" : String(value))))));
    return made("div", { className: "scroll", tabIndex: 0 },
      made("table", {}, made("thead", {}, made("tr", {}, ...head)), made("tbody", {}, ...body)));
  }

  // On a phone the rows of one that is stacked are lists.
  function stacked(whole) {
    const headings = [...whole.querySelectorAll("th")].map((head) => head.textContent);
    whole.querySelector("table").className = "stacked";
    whole.querySelectorAll("tr").forEach((row) => [...row.cells].forEach((cell, at) => {
      if (cell.firstElementChild) cell.firstElementChild.dataset.heading = headings[at];
    }));
    return whole;
  }
  return { made, table, stacked };
})();
