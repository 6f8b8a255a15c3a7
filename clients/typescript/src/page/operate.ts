/**
 * What an operator sees of a study: how many reports were refused and why, tokens, and what was left out of each round.
 *
 * The operator's token is typed in, goes to the service and nowhere else, and is not kept: it is gone with the page.
 */

import { element, table } from "./elements.js";

interface Status {
  readonly state: string;
  readonly people: number;
  readonly tokens: { made: number; spent: number };
  readonly refused: Record<string, number>;
  readonly rounds: { round: number; name: string; state: string; people: number }[];
  /** Of each round in which screening saw something: how many reports were left out, and why. */
  readonly alarms?: { round: number; left_out: number; alarms: string[] }[];
}

const written = (value: number): string => value.toLocaleString("en");

function shown(status: Status): HTMLElement[] {
  const refused = Object.entries(status.refused).map(([reason, many]) => [reason, written(many)]);
  const leftOut = new Map((status.alarms ?? []).map((one) => [one.round, one.left_out]));
  const rounds = status.rounds.map(({ round, name, state, people }) => [
    `${round + 1}: ${name}`,
    state,
    written(people),
    written(leftOut.get(round) ?? 0),
  ]);
  const alarms = (status.alarms ?? []).flatMap(({ round, alarms }) => alarms.map((one) => `Round ${round + 1}: ${one}`));
  return [
    element("p", {}, `State: ${status.state}. Reports: ${written(status.people)}. `),
    element("p", {}, `Tokens: ${written(status.tokens.made)} made, ${written(status.tokens.spent)} spent.`),
    ...(alarms.length > 0 ? [element("ul", { role: "alert" }, ...alarms.map((alarm) => element("li", {}, alarm)))] : []),
    refused.length > 0
      ? table("Reports refused, by reason", ["reason", "reports"], refused)
      : element("p", {}, "No report was refused."),
    table("Rounds", ["round", "state", "reports", "left out"], rounds),
  ];
}

function operateIn(section: HTMLElement): void {
  const token = element("input", { type: "password", autocomplete: "off", required: true, size: 40 });
  const status = element("p", { role: "status" });
  const place = element("div");
  const ask = async (): Promise<void> => {
    status.replaceChildren("");
    try {
      const answer = await fetch(`/v1/studies/${section.dataset["study"] ?? ""}/status`, {
        headers: { Authorization: `Bearer ${token.value.trim()}` },
        credentials: "omit",
        cache: "no-store",
        redirect: "error", // the token is for this service, and for nobody whom it names
      });
      const told = (await answer.json()) as Status & { title?: string };
      if (!answer.ok) status.replaceChildren(`The service says: ${told.title ?? answer.status}.`);
      else place.replaceChildren(...shown(told));
    } catch (error) {
      status.replaceChildren(`The service was not reached: ${String(error)}`);
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    void ask();
  };
  const form = element(
    "form",
    { submit },
    element("p", {}, element("label", {}, "Operator's token (scope watch): ", token)),
    element("p", {}, element("button", { type: "submit" }, "Show")),
  );
  section.replaceChildren(form, status, place);
}

const section = document.getElementById("operate");
if (section !== null) operateIn(section);
