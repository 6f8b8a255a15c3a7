/** Elements of a page, made without any text ever being read as markup. */

type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;
type Child = Node | string;

/** Return an element with its attributes and what is in it; functions are listeners, and false leaves an attribute out. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== false) made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** Return a table with a caption, heads of columns, and rows whose first cell is their head. */
export function table(caption: string, heads: string[], rows: string[][]): HTMLTableElement {
  return element(
    "table",
    { class: "take-part-table" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element(
      "tbody",
      {},
      ...rows.map(([first, ...rest]) =>
        element("tr", {}, element("th", { scope: "row" }, first!), ...rest.map((cell) => element("td", {}, cell))),
      ),
    ),
  );
}
