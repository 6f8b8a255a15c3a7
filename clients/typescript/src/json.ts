/**
 * Text to values, as strictly as the format has it: no field twice, whole numbers that every language holds, no more lists
 * within each other than said. `JSON.parse` takes the last of two fields and rounds long numbers, so it is not used.
 */

export type Json = null | boolean | number | string | Json[] | Fields;
export interface Fields {
  [name: string]: Json;
}

/** Why a question is not answered. Nothing in it depends on what the device holds. */
export class Refused extends Error {
  override name = "Refused";
}

const SPACE = /[ \t\n\r]*/y;
const WHOLE = /-?(?:0|[1-9][0-9]*)/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))/y;
const ESCAPED: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const LITERALS: [string, Json][] = [["true", true], ["false", false], ["null", null]];

/** Return whether this is an object with fields, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Return a field of an object, or undefined; what objects have by themselves is none. */
export function field(fields: Fields, name: string): Json | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Return the text that bytes in UTF-8 stand for, or undefined where they stand for none. */
export function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Return the values in a text, with lists and objects within each other up to a depth; undefined where it is none. */
export function parse(text: string, depth: number): Json | undefined {
  const reader = new Reader(text);
  try {
    const value = reader.value(depth);
    reader.skip(SPACE);
    return reader.at === text.length ? value : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Unreadable extends Error {}

class Reader {
  at = 0;
  constructor(private readonly text: string) {}

  /** Return what a pattern finds here, and go past it. */
  skip(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at = pattern.lastIndex;
    return found;
  }

  /** Go past this mark, and any space before it, if it is here. */
  mark(mark: string): boolean {
    this.skip(SPACE);
    const here = this.text.startsWith(mark, this.at);
    if (here) this.at += mark.length;
    return here;
  }

  need(mark: string): void {
    if (!this.mark(mark)) throw new Unreadable();
  }

  value(depth: number): Json {
    if (this.mark("{")) return this.fields(depth - 1);
    if (this.mark("[")) return this.list(depth - 1);
    if (this.mark('"')) return this.string();
    for (const [name, value] of LITERALS) if (this.mark(name)) return value;
    return this.whole();
  }

  fields(depth: number): Fields {
    if (depth < 0) throw new Unreadable();
    const found: Fields = Object.create(null) as Fields;
    if (this.mark("}")) return found;
    do {
      this.need('"');
      const name = this.string();
      if (name in found) throw new Unreadable();
      this.need(":");
      found[name] = this.value(depth);
    } while (this.mark(","));
    this.need("}");
    return found;
  }

  list(depth: number): Json[] {
    if (depth < 0) throw new Unreadable();
    const found: Json[] = [];
    if (this.mark("]")) return found;
    do found.push(this.value(depth));
    while (this.mark(","));
    this.need("]");
    return found;
  }

  string(): string {
    let told = "";
    for (;;) {
      told += this.skip(PLAIN)![0];
      if (this.text[this.at] === '"') break;
      const escape = this.skip(ESCAPE);
      if (escape === null) throw new Unreadable();
      const [, short, code] = escape;
      told += code === undefined ? (ESCAPED[short!] ?? short!) : String.fromCharCode(parseInt(code, 16));
    }
    this.at += 1;
    return told;
  }

  whole(): number {
    const digits = this.skip(WHOLE)?.[0];
    const number = Number(digits);
    // A point or an exponent after the digits is none of the marks that may follow, and is refused there.
    if (digits === undefined || !Number.isSafeInteger(number)) throw new Unreadable();
    return number === 0 ? 0 : number;
  }
}
