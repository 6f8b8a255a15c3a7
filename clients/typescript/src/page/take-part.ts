/**
 * Taking part on a page of the service: a visitor ticks what they hold, their own browser makes the report, and shows the
 * very bytes that were sent and what they do and do not reveal.
 *
 * The page has a section `take-part` with the name of the study (`data-study`), who may take part (`data-who`) and whether
 * the study is over (`data-over`). Nothing but the report leaves the browser. The ticks are not remembered either, as
 * others may use the same browser.
 */

import { Participant, Refused, Unreached, type Standing, type StudyText, indexedStore, localStore } from "../index.js";
import { type Question } from "../answering.js";
import { becomes } from "../becoming.js";
import { type Report } from "../client.js";
import { type Known } from "../memory.js";
import { askedInWords, mostRatio, namedBy, near, othersOf, timesAs, valueInWords } from "../telling.js";
import { limit } from "../trust.js";
import { element, table } from "./elements.js";

const MOST_SHOWN = 12; // names, before the rest is counted
const MOST_TICKS = 30; // items, before there is a box to look for one

const TOKEN = /^[0-9a-f]{32}$/;
const TOKEN_LATER = " A token is looked at only when your report is sent: one that is wrong is refused then.";
const NO_TOKEN = "The link to this page has no valid token: a token has 32 digits from 0 to 9 and a to f. Type yours below.";
const NO_EPSILON = "The most epsilon you give away is a number over 0, such as 1 or 0.5. Nothing was sent.";
const OVER = "Nothing was sent from this browser.";

const STANDINGS: Record<Standing, string> = {
  counted: "Thank you: your report was counted.",
  "already-counted": "Your report was counted. Nobody is asked twice, so there is nothing more to do.",
  waiting:
    "Nothing was sent: the round that asks your browser has not begun. Come back to this page later, with the same browser.",
  "not-asked": "The study is over, and none of its rounds asked you. Nothing was sent.",
  refused: "The service did not take your report, and your browser will make no other.",
};

/** Fill a section of a page. */
export async function takePartIn(section: HTMLElement): Promise<void> {
  const status = element("p", { role: "status", class: "take-part-status" }, "Fetching the study …");
  const place = element("div");
  section.replaceChildren(status, place);
  const say = (text: string): void => status.replaceChildren(text);
  try {
    const options = new Map(new URLSearchParams(location.hash.slice(1)));
    const name = section.dataset["study"] ?? "";
    const store = typeof indexedDB === "undefined" ? localStore() : indexedStore();
    const given = options.get("token");
    const token = given !== undefined && TOKEN.test(given) ? given : undefined;
    const joining = { store, token, key: options.get("key") };
    // What is looked at here may ask for any epsilon; what is answered, only for what the visitor allows.
    const study = await participantOf(name, { ...joining, maxEpsilon: 64 }).study();
    const before = await participantOf(name, { ...joining, maxEpsilon: 64 }).known();
    say("");
    if (before.report === undefined && section.dataset["over"] === "true") return say(OVER);
    if (given !== undefined && token === undefined) say(NO_TOKEN);
    if (before.report === undefined) place.append(form(section, study, joining, say, place));
    else if (before.outcome === undefined) place.append(again(section, study, joining, before, say, place));
    else shown(place, study, before, say);
  } catch (error) {
    say(why(error));
  }
}

interface Joining {
  readonly store: ReturnType<typeof indexedStore>;
  readonly token: string | undefined;
  readonly key: string | undefined;
}

function participantOf(name: string, { token, key, ...rest }: Joining & { maxEpsilon: string | number }): Participant {
  const given = { ...(token === undefined ? {} : { token }), ...(key === undefined ? {} : { key }) };
  return new Participant(location.origin, name, { ...rest, ...given });
}

function why(error: unknown): string {
  if (error instanceof Unreached) return "The service was not reached. Try again later: the same bytes will be sent.";
  if (error instanceof Refused) return `Your browser does not answer. ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function form(
  section: HTMLElement,
  study: StudyText,
  joining: Joining,
  say: (text: string) => void,
  place: HTMLElement,
): HTMLElement {
  const pairs = study.told["pairs"];
  if (pairs === "given" || pairs === "after") {
    return element("p", {}, "This study is about how things follow each other, which cannot be ticked: it needs an app.");
  }
  const written = element("textarea", { rows: 6, cols: 40, autocomplete: "off" });
  const listed = study.held;
  const ticks = (listed ?? []).map((item, at) => {
    const box = element("input", { type: "checkbox", name: "item", value: at, autocomplete: "off" });
    return { box, label: element("label", { class: "take-part-item" }, box, ` ${item}`), item: item.toLowerCase() };
  });
  const look = element("input", {
    type: "search",
    autocomplete: "off",
    input: () => {
      const wanted = look.value.trim().toLowerCase();
      for (const { label, item, box } of ticks) label.hidden = !item.includes(wanted) && !box.checked;
    },
  });
  const epsilon = element("input", { type: "text", inputmode: "decimal", size: 6, value: "1", required: true });
  const token = tokenBox();
  const asksToken = section.dataset["who"] === "tokens" && joining.token === undefined;
  token.required = asksToken;
  const button = element("button", { type: "submit" }, "Make my report and send it");
  const submit = async (): Promise<void> => {
    const basket = ticks.flatMap(({ box }, at) => (box.checked ? [at] : []));
    const given = asksToken ? token.value.trim() : joining.token;
    const maxEpsilon = epsilon.value.trim();
    const allowed = limit(maxEpsilon);
    if (allowed === undefined || allowed[0] <= 0n) {
      epsilon.focus();
      return say(NO_EPSILON);
    }
    button.disabled = true;
    say("Making your report …");
    const participant = participantOf(study.name, { ...joining, token: given, maxEpsilon });
    try {
      const texts = written.value.split("\n").map((text) => text.trim()).filter((text) => text !== "");
      const standing = await participant.takePart(basket, listed === null ? { texts } : {});
      const known = await participant.known();
      const later = standing === "waiting" && given !== undefined ? TOKEN_LATER : "";
      say(STANDINGS[standing] + later + (standing === "refused" ? ` It says: ${known.reason ?? ""}.` : ""));
      if (standing === "not-asked") return place.replaceChildren();
      const answered = study.become === undefined ? basket : becomes(basket, study.become);
      if (known.report !== undefined) shown(place, study, known, say, answered);
    } catch (error) {
      const known = await participant.known();
      // A report that was made is the only one: what is left to do is to send it, with another token where need be.
      if (known.report === undefined) return say(why(error));
      place.replaceChildren(again(section, study, joining, known, say, place));
      say(error instanceof Refused ? error.message : why(error));
    } finally {
      button.disabled = false;
    }
  };
  return formOf(
    submit,
    element(
      "fieldset",
      {},
      element("legend", {}, String(study.told["asks"] ?? "What do you hold?")),
      ...(ticks.length > MOST_TICKS ? [element("label", { class: "take-part-look" }, "Look for ", look)] : []),
      listed === null
        ? element("label", { class: "take-part-texts" }, "One in each line: ", written)
        : element("div", { class: "take-part-items" }, ...ticks.map(({ label }) => label)),
    ),
    listed === null
      ? element("p", {}, "Write nothing if there is none, and send it all the same: silence would tell.")
      : element("p", {}, "Tick nothing if you hold none of them, and send it all the same: silence would tell."),
    element("p", {}, element("label", {}, "The most epsilon I give away: ", epsilon)),
    ...(asksToken ? [element("p", {}, element("label", {}, "My token: ", token))] : []),
    element(
      "p",
      {},
      "What you tick or write stays in this browser. It sends one report that chance has changed, once, and keeps no ticks. " +
        "This page comes from the service itself: whoever does not trust it can take part with a client of their own.",
    ),
    element("p", {}, button),
  );
}

/** A report that was made, and that the service has not answered for: its bytes can be sent again, and nothing else. */
function again(
  section: HTMLElement,
  study: StudyText,
  joining: Joining,
  before: Known,
  say: (text: string) => void,
  place: HTMLElement,
): HTMLElement {
  const token = tokenBox();
  // The service did not know the token, so that the one in the link is of no use either.
  const asksToken = before.reason !== undefined && section.dataset["who"] === "tokens";
  token.required = asksToken;
  const button = element("button", { type: "submit" }, "Send my report again");
  const submit = async (): Promise<void> => {
    const given = asksToken ? token.value.trim() : joining.token;
    const participant = participantOf(study.name, { ...joining, token: given, maxEpsilon: 64 });
    button.disabled = true;
    try {
      if ((await participant.known()).report === undefined) return location.reload(); // forgotten in the meantime
      await participant.takePart([]);
      shown(place, study, await participant.known(), say);
    } catch (error) {
      say(error instanceof Refused ? error.message : why(error));
    } finally {
      button.disabled = false;
    }
  };
  say("Your report was made, and the service has not said yet that it was counted.");
  return formOf(
    submit,
    element("pre", { class: "take-part-bytes", tabindex: 0 }, element("code", {}, before.report!)),
    ...(asksToken ? [element("p", {}, element("label", {}, "The service does not know the token. My token: ", token))] : []),
    element("p", {}, button),
  );
}

function tokenBox(): HTMLInputElement {
  return element("input", { type: "text", size: 34, pattern: "[0-9a-f]{32}", autocomplete: "off" });
}

function formOf(submit: () => Promise<void>, ...children: HTMLElement[]): HTMLElement {
  const submitted = (event: Event): void => {
    event.preventDefault();
    void submit();
  };
  return element("form", { class: "take-part-form", submit: submitted }, ...children);
}

/** Show what was sent: the bytes, what they name, and who else would have sent them. */
function shown(
  place: HTMLElement,
  study: StudyText,
  known: Known,
  say: (text: string) => void,
  basket?: readonly number[],
): void {
  const { report } = JSON.parse(known.report!) as { report: Report };
  const heading = element("h3", { tabindex: -1 }, "What your browser sent");
  if (basket === undefined) say(STANDINGS[known.outcome === "refused" ? "refused" : "already-counted"]);
  place.replaceChildren(
    heading,
    element("p", {}, "These bytes, and nothing else of yours:"),
    element("pre", { class: "take-part-bytes", tabindex: 0 }, element("code", {}, known.report!)),
    element(
      "p",
      {},
      "Round, token and key are there so that nobody is counted twice; none of them depends on what you hold. " +
        "Chance had its hand in the report.",
    ),
  );
  if (typeof known.asked === "string") {
    const { question } = JSON.parse(known.asked) as { question: Question };
    place.append(...revealed(study, question, report, basket));
  }
  heading.focus();
}

function revealed(study: StudyText, question: Question, report: Report, basket?: readonly number[]): HTMLElement[] {
  const told = [element("p", {}, `You were asked ${askedInWords(question)}.`)];
  const named = namedBy(question, report);
  if (named !== undefined) {
    const names = named.slice(0, MOST_SHOWN).map((value) => valueInWords(question, value, study.items));
    const more = named.length > names.length ? `, and ${(named.length - names.length).toLocaleString("en")} more` : "";
    const which = names.length > 0 ? names.join(", ") + more : "none of what was asked about";
    told.push(element("p", {}, `The report names: ${which}. It may do so whether or not you hold them.`));
  }
  const names = study.items ?? [];
  const others = othersOf(question, report, names.length, study.items === null ? undefined : basket);
  const own = others.find(({ what }) => what === (basket?.length ? "own" : "nothing"));
  const rows = others.map(({ what, items, chance }) => [
    WORDS[what] + some(items.map((item) => names[item] ?? `item ${item}`)),
    chanceInWords(near(chance)),
    own === undefined ? "" : `× ${timesAs(chance, own.chance).toFixed(2)}`,
  ]);
  const heads = ["somebody with", "sends this report", basket?.length ? "compared with you" : "compared with nothing at all"];
  told.push(
    table("Who else would have sent the same", heads, rows),
    element(
      "p",
      {},
      `Whatever people hold, nobody sends this report more than ${mostRatio(question).toFixed(2)} times as often as anybody ` +
        `else. That is the promise: epsilon ${String(study.told["epsilon"])}.`,
    ),
  );
  if ("seed" in report) {
    told.push(element("p", {}, "The chances are those of the last number. The seed was drawn without looking at a basket."));
  }
  return told;
}

const WORDS = {
  own: "what you ticked",
  nothing: "nothing at all",
  with: "what you ticked, and also ",
  without: "what you ticked, but for ",
  alone: "nothing but ",
};

/** Return the names of one of several things. */
function some(names: readonly string[]): string {
  if (names.length <= 1) return names.join("");
  const more = names.length > MOST_SHOWN ? ` or one of ${(names.length - MOST_SHOWN).toLocaleString("en")} more` : "";
  return `one of ${names.slice(0, MOST_SHOWN).join(", ")}${more}`;
}

/** Return a chance as people read it. */
function chanceInWords(chance: number): string {
  if (chance >= 0.001) return `${(100 * chance).toPrecision(3)} %`;
  if (chance >= 1e-15) return `once in ${Math.round(1 / chance).toLocaleString("en")}`;
  return `once in 10 to the power of ${Math.round(-Math.log10(chance))}`;
}

const section = document.getElementById("take-part");
if (section !== null) void takePartIn(section);
