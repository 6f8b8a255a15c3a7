/**
 * What a basket becomes in a study with a hierarchy: the device adds what stands above its items.
 *
 * The study says, signed, what each item that a device may hold becomes: itself and what stands above it, or what it is on
 * one level. This does what the Python file of this name does.
 */

import { wholeNumbers } from "./answering.js";

/** Return what the items of a basket become, ascending; numbers that the table does not have become nothing. */
export function becomes(basket: Iterable<number>, table: readonly (readonly number[])[]): number[] {
  const every = wholeNumbers(basket).filter((item) => 0 <= item && item < table.length);
  return [...new Set(every.flatMap((item) => table[item]!))].sort((one, other) => one - other);
}
