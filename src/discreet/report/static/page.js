"use strict";
const make = (kind, words, name) => {
  const made = document.createElement(kind);
  if (words) made.textContent = words;
  if (name) made.className = name;
  return made;
};

// Tables: a click on a heading sorts downwards, of names and p-values upwards; another turns that round, and a third
// restores the order. No number comes last.
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const told = row.cells[at].dataset.v;
    return told === undefined ? row.cells[at].textContent : told === "" ? NaN : Number(told);
  };
  const compare = (one, other) => typeof one === "string" ? other.localeCompare(one) : other - one;
  heads.forEach((head, at) => {
    const button = make("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const words = at === 0 || head.dataset.first === "ascending";
      const first = words ? "ascending" : "descending", second = words ? "descending" : "ascending";
      const was = head.getAttribute("aria-sort");
      const now = was === first ? second : was === second ? null : first;
      for (const other of heads) other.removeAttribute("aria-sort");
      if (now) head.setAttribute("aria-sort", now);
      const sorted = now ? [...rows].sort((one, other) => {
        const left = value(one, at), right = value(other, at);
        if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
        return now === "descending" ? compare(left, right) : compare(right, left);
      }) : rows;
      body.append(...sorted);
    });
  });
  if (rows.length > 8) {
    const line = make("p", "", "filter"), label = make("label", "Show rows with "), field = make("input");
    const told = make("span", "", "quiet");
    told.setAttribute("role", "status");
    field.type = "search";
    field.autocomplete = "off";
    label.append(field);
    line.append(label, told);
    table.before(line);
    const texts = rows.map(row => row.cells[0].textContent.toLocaleLowerCase());
    const levels = [...new Set(rows.map(row => row.dataset.level).filter(Boolean))], chosen = make("select");
    if (levels.length > 1) {
      const beside = make("label", " Level ");
      chosen.append(make("option", "All"), ...levels.map(level => make("option", level)));
      chosen.options[0].value = "";
      beside.append(chosen);
      line.insertBefore(beside, told);
    }
    const filter = () => {
      const words = field.value.toLocaleLowerCase().split(/[\s,]+/).filter(Boolean);
      let seen = 0;
      rows.forEach((row, at) => {
        const there = !chosen.value || row.dataset.level === chosen.value;
        row.hidden = !there || !words.every(word => texts[at].includes(word));
        seen += !row.hidden;
      });
      told.textContent = words.length || chosen.value ? ` ${seen} of ${rows.length} rows` : "";
    };
    field.addEventListener("input", filter);
    chosen.addEventListener("input", filter);
  }
}

// Pictures: what a browser would show after a while is shown at once, under the finger too.
const tip = make("div", "", "tip");
tip.hidden = true;
document.body.append(tip);
for (const title of document.querySelectorAll("svg title")) {
  const held = title.parentNode;
  if (held.hasAttribute("aria-labelledby")) {
    held.removeAttribute("aria-labelledby");
    held.setAttribute("aria-label", title.textContent);
  } else {
    held.dataset.tip = title.textContent;
  }
  title.remove();
}
const shown = event => {
  const on = event.target.closest ? event.target.closest("[data-tip]") : null;
  for (const lit of document.querySelectorAll(".lit, .dim")) lit.classList.remove("lit", "dim");
  tip.hidden = !on;
  if (!on) return;
  tip.textContent = on.dataset.tip;
  const wide = tip.offsetWidth, left = Math.min(event.clientX + 14, innerWidth - wide - 8);
  const below = event.clientY + 18, high = tip.offsetHeight;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${below + high > innerHeight ? event.clientY - high - 10 : below}px`;
  if (!on.dataset.n) return;
  // In a graph, what does not meet this item or line steps back.
  const nodes = on.dataset.n.split(" "), drawn = on.closest("svg"), near = new Set(nodes);
  const parts = [...drawn.querySelectorAll("[data-n]")].map(part => [part, part.dataset.n.split(" ")]);
  for (const [, met] of parts) if (nodes.length === 1 && met.includes(nodes[0])) met.forEach(node => near.add(node));
  drawn.classList.add("dim");
  for (const [part, met] of parts) {
    const lit = met.length === 1 ? near.has(met[0]) : nodes.length === 1 ? met.includes(nodes[0]) : part === on;
    part.classList.toggle("lit", lit);
  }
};
document.addEventListener("pointermove", shown);
document.addEventListener("pointerdown", shown);
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
