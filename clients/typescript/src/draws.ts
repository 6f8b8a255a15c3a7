/** Random choices on a device, each made from bytes in a stated order, and the hash family. */

import { WORD } from "./loss.js";

/** A source of random bytes: so many at each call. */
export type Take = (count: number) => Uint8Array;

/** Return bytes of the system's secure source. */
export const secure: Take = (count) => crypto.getRandomValues(new Uint8Array(count));

/** A seed of the hash family: an odd number and any number. */
export type Seed = readonly [number, number];

/** Random choices made from bytes: words of four, the least significant byte first. */
export class Draws {
  constructor(private readonly take: Take = secure) {}

  /** Return 32 fair bits. */
  word(): number {
    const [first, second, third, fourth] = this.take(4) as unknown as [number, number, number, number];
    return (first | (second << 8) | (third << 16) | (fourth << 24)) >>> 0;
  }

  /** Return a seed of the hash family. */
  seed(): Seed {
    const first = this.word();
    return [(first | 1) >>> 0, this.word()];
  }

  /** Return the number of one of so many published seeds, a power of two of them. */
  published(seeds: number): number {
    return this.below(seeds);
  }

  /** Return true with probability `threshold` / 2^32. */
  chance(threshold: number): boolean {
    return this.word() < threshold;
  }

  /** Return a number from 0 to before `bound`, each as likely; nothing is drawn where there is no choice. */
  below(bound: number): number {
    while (bound > 1) {
      const word = this.word();
      if (word < WORD - (WORD % bound)) return word % bound;
    }
    return 0;
  }

  /** Return a place: the first `inside` have `weight` / 2^64 each, the `outside` after them share the rest. */
  place(weight: bigint, inside: number, outside: number): number {
    const low = BigInt(this.word());
    const drawn = low + (BigInt(this.word()) << 32n);
    const whole = weight * BigInt(inside);
    return drawn < whole ? Number(drawn / weight) : inside + Number((drawn - whole) % BigInt(outside));
  }

  /** Return `many` of the values, every such set as likely, or all where there are no more. */
  some(many: number, values: readonly number[]): number[] {
    const left = [...values];
    if (left.length > many) {
      for (let place = 0; place < many; place++) {
        const other = place + this.below(left.length - place);
        [left[place], left[other]] = [left[other]!, left[place]!];
      }
    }
    return left.slice(0, many);
  }

  /** Return `many` numbers below `bound`: the chosen and others not among `without`, every such set as likely. */
  filled(chosen: Set<number>, many: number, bound: number, without: ReadonlySet<number> = new Set()): Set<number> {
    while (chosen.size < many) {
      const other = this.below(bound);
      if (!without.has(other)) chosen.add(other);
    }
    return chosen;
  }
}

/**
 * Return the 32-bit hash of an item: multiply and add by the seed, then mix (constants: Wellons, hash-prospector).
 *
 * Privacy asks nothing of it, since the seed is drawn without looking at the basket.
 */
export function mixed(seed: Seed, item: number): number {
  let value = (Math.imul(item, seed[0]) + seed[1]) >>> 0;
  value = Math.imul(value ^ (value >>> 16), 0x21f0aaad) >>> 0;
  value = Math.imul(value ^ (value >>> 15), 0xd35a2d97) >>> 0;
  return (value ^ (value >>> 15)) >>> 0;
}

const FAMILY: Seed = [1, 0x9e3779b9]; // the seed that published seeds are hashed from

/** Return the published seed of a number below 2^31: two hashes of it, the lowest bit of the first set. */
export function published(number: number): Seed {
  return [(mixed(FAMILY, 2 * number) | 1) >>> 0, mixed(FAMILY, 2 * number + 1)];
}
