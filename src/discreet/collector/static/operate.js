/*
 * What an operator sees of a study: how many reports were refused and why, tokens, and what was left out of each round.
 *
 * The operator's token is typed in, goes to the service and nowhere else, and is not kept: it is gone with the page. This
 * script is served as it stands here, so that the page needs nothing to be built.
 */

const written = (value) => value.toLocaleString("en");

/** Return an element with attributes, listeners and children. Text stays text: nothing is parsed as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Return a table; the first cell of each row is its head, and numbers stand on the right. */
function table(caption, heads, rows) {
  const cell = (value) =>
    typeof value === "number" ? element("td", { class: "number" }, written(value)) : element("td", {}, value);
  return element(
    "table",
    { class: "words" },
    element("caption", {}, caption),
    element(
      "thead",
      {},
      element("tr", {}, ...heads.map(([head, kind]) => element("th", { scope: "col", class: kind }, head))),
    ),
    element(
      "tbody",
      {},
      ...rows.map(([first, ...rest]) => element("tr", {}, element("th", { scope: "row" }, first), ...rest.map(cell))),
    ),
  );
}

function statusElements(status) {
  const alarms = status.alarms ?? [];
  const leftOut = new Map(alarms.map((one) => [one.round, one.left_out]));
  const rounds = status.rounds.map((one) => [
    `${one.round + 1}: ${one.name}`, one.state, one.people, leftOut.get(one.round) ?? 0,
  ]);
  const warnings = [
    ...(status.overdue ?? []).map((round) => `Round ${round + 1}: its deadline has passed with too few reports.`),
    ...alarms.flatMap((one) => one.alarms.map((alarm) => `Round ${one.round + 1}: ${alarm}`)),
  ];
  const refused = Object.entries(status.refused);
  return [
    element("p", {}, `State: ${status.state}. Reports: ${written(status.people)}.`),
    element("p", {}, `Tokens: ${written(status.tokens.made)} made, ${written(status.tokens.spent)} spent.`),
    ...(warnings.length > 0 ? [element("ul", { role: "alert" }, ...warnings.map((one) => element("li", {}, one)))] : []),
    refused.length > 0
      ? table("Reports refused, by reason", [["reason", "word"], ["reports", "number"]], refused)
      : element("p", {}, "No report was refused."),
    table(
      "Rounds",
      [["round", "word"], ["state", "word"], ["reports", "number"], ["left out", "number"]],
      rounds,
    ),
  ];
}

function operateIn(section) {
  const token = element("input", { type: "password", autocomplete: "off", required: "", size: "40" });
  const message = element("p", { role: "status" });
  const place = element("div", { class: "wide" });
  const ask = async () => {
    message.replaceChildren("");
    place.replaceChildren(); // what another token showed is not for this one
    try {
      const answer = await fetch(`/v1/studies/${section.dataset.study}/status`, {
        headers: { Authorization: `Bearer ${token.value.trim()}` },
        credentials: "omit",
        cache: "no-store",
        redirect: "error", // the token is for this service, and for nobody whom it names
      });
      const status = await answer.json();
      if (answer.ok) place.replaceChildren(...statusElements(status));
      else message.replaceChildren(`The service says: ${status.title ?? answer.status}.`);
    } catch (error) {
      message.replaceChildren(`The service was not reached: ${String(error)}`);
    }
  };
  const submit = (event) => {
    event.preventDefault();
    void ask();
  };
  const form = element(
    "form",
    { submit },
    element("p", {}, element("label", {}, "Operator's token (scope watch): ", token)),
    element("p", {}, element("button", { type: "submit" }, "Show")),
  );
  section.replaceChildren(form, message, place);
}

const section = document.getElementById("operate");
if (section !== null) operateIn(section);
