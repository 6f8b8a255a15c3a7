/**
 * How a device asks a service over HTTP, and what it makes of the answer.
 *
 * Not everything that answers is the service: proxies do, and networks that want a login first. So a report is given up for
 * a problem document of a service of studies alone, with a reason that stays what it is. Whatever else comes, the same bytes
 * are sent again. `docs/wire.md` has the reasons, and golden vectors try every one on both clients.
 */

import { MOST_STUDY } from "./documents.js";
import { type Fields, type Json, field, isFields } from "./json.js";

/** The service was not reached, or cannot answer now. The same bytes are sent again with the next call. */
export class Unreached extends Error {
  override name = "Unreached";
}

/** Sends a request and returns status and body; an `Unreached` where nobody answers. */
export type Send = (method: "GET" | "POST", address: string, body?: string) => Promise<{ status: number; body: string }>;

/** What becomes of a report that was sent. */
export type Fate = "counted" | "already-counted" | "refused" | "another-token" | "again";

/** Reasons for which a report is given up: the same bytes would be refused for ever. */
export const FINAL: ReadonlySet<string> = new Set(["round-closed", "token-spent", "report-impossible"]);

/** The reason for which the same report may go with another token. */
export const ANOTHER_TOKEN = "token-unknown";

const MOST_ANSWER = 4 * MOST_STUDY;

// Milliseconds. A service that sends a byte now and then would keep the device, and the lock of its record, for as long as
// it likes. Larger: it keeps them longer; smaller: a slow line does not bring a long study.
const SILENCE = 30_000;
const WHOLE_ANSWER = 600_000;

/** Return a sender that gives up after a silence, and where an answer has not ended after some time (milliseconds). */
export const sendWithin =
  (silence: number, whole: number): Send =>
  async (method, address, body) => {
    const ending = new AbortController();
    const end = (reason: string) => ending.abort(new Error(reason));
    const late = setTimeout(end, whole, "its answer takes too long");
    let silent = setTimeout(end, silence, "it says nothing");
    try {
      const answer = await fetch(address, {
        method,
        ...(body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } }),
        credentials: "omit",
        referrerPolicy: "no-referrer",
        cache: "no-store",
        redirect: "error",
        signal: ending.signal,
      });
      const heard = () => {
        clearTimeout(silent);
        silent = setTimeout(end, silence, "it says nothing");
      };
      heard();
      return { status: answer.status, body: await limited(answer, heard) };
    } catch (error) {
      throw new Unreached(`The service was not reached: ${String(error)}`);
    } finally {
      clearTimeout(late);
      clearTimeout(silent);
    }
  };

/** Send one request without cookies or anything else that tells who sends it, and follow nobody elsewhere. */
export const overHttp: Send = sendWithin(SILENCE, WHOLE_ANSWER);

/** Return the text of an answer, and stop reading where it is longer than any that there is; `heard` is called for each part. */
async function limited(answer: Response, heard: () => void): Promise<string> {
  const parts: BlobPart[] = [];
  let length = 0;
  for (const reader = answer.body?.getReader(); reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    heard();
    length += value.length;
    if (length > MOST_ANSWER) throw new Unreached("The service says more than a device reads.");
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
  return new Blob(parts).text();
}

/** Return the object that an answer is, or undefined where it is something else. */
export function toldIn(body: string): Fields | undefined {
  try {
    const told = JSON.parse(body) as Json;
    return isFields(told) ? told : undefined;
  } catch {
    return undefined;
  }
}

/** Return what a service of studies refuses; undefined for whatever else was answered. */
export function problemOf(status: number, told: Fields | undefined): { reason: string; title: string } | undefined {
  const reason = told === undefined ? undefined : field(told, "reason");
  if (told === undefined || typeof reason !== "string" || field(told, "type") !== `urn:discreet:${reason}`) return undefined;
  const title = String(field(told, "title") ?? reason).slice(0, 80);
  return 400 <= status && status < 600 ? { reason, title } : undefined;
}

/** Return what becomes of a report that was answered so, and why. */
export function fateOf(status: number, body: string): [Fate, string] {
  const told = toldIn(body);
  const outcome = told === undefined ? undefined : field(told, "outcome");
  if (status === 200 && (outcome === "counted" || outcome === "already-counted")) return [outcome, ""];
  const problem = problemOf(status, told);
  if (problem === undefined) return ["again", `status ${status}`];
  if (problem.reason === ANOTHER_TOKEN) return ["another-token", problem.reason];
  return FINAL.has(problem.reason) ? ["refused", problem.reason] : ["again", problem.title];
}
