/**
 * Checking an Ed25519 signature (RFC 8032): by the platform where it can, and otherwise here, in whole numbers.
 *
 * It checks and does nothing else: there is no secret here, so how long it takes tells nothing. Platforms differ about
 * texts of points that are not written in the one right way, and about points of small order; no honest signer makes
 * either, so they are refused before anybody is asked.
 */

type Point = readonly [x: bigint, y: bigint, z: bigint, product: bigint]; // x and y over z, and their product

const FIELD = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const CURVE = mod(-121665n * power(121666n, FIELD - 2n));
const ROOT = power(2n, (FIELD - 1n) / 4n); // of minus one
const EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
const SMALL = [0n, 1n, FIELD - 1n, EIGHTH, FIELD - EIGHTH]; // y of the points that eight times are nothing
const BASE = pointOf(4n * power(5n, FIELD - 2n), 0n)!;

/** Return whether this is the signature of a message under a public key; nothing is raised, whatever is given. */
export async function verified(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (!wellFormed(key, signature)) return false;
  try {
    const imported = await crypto.subtle.importKey("raw", copied(key), { name: "Ed25519" }, false, ["verify"]);
    return await crypto.subtle.verify({ name: "Ed25519" }, imported, copied(signature), copied(message));
  } catch {
    return verifiedHere(key, message, signature); // a platform that does not know it
  }
}

/** Return the same, computed here. */
export async function verifiedHere(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (!wellFormed(key, signature)) return false;
  const [publicPoint, first] = [point(key), point(signature.subarray(0, 32))];
  if (publicPoint === undefined || first === undefined) return false;
  const digest = await crypto.subtle.digest("SHA-512", copied(signature.subarray(0, 32), key, message));
  const challenge = number(new Uint8Array(digest)) % ORDER;
  return same(times(number(signature.subarray(32)), BASE), sum(first, times(challenge, publicPoint)));
}

/** Return whether the texts of both points, and the number after the second, are written in the one right way. */
function wellFormed(key: Uint8Array, signature: Uint8Array): boolean {
  if (key.length !== 32 || signature.length !== 64 || number(signature.subarray(32)) >= ORDER) return false;
  const heights = [key, signature.subarray(0, 32)].map((text) => number(text) % 2n ** 255n);
  return heights.every((y) => y < FIELD && !SMALL.includes(y));
}

/** Return these bytes one after the other. */
function copied(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Return the number that bytes stand for, the least significant first. */
function number(bytes: Uint8Array): bigint {
  return bytes.reduceRight((total, byte) => total * 256n + BigInt(byte), 0n);
}

function mod(value: bigint): bigint {
  const rest = value % FIELD;
  return rest < 0n ? rest + FIELD : rest;
}

function power(base: bigint, exponent: bigint): bigint {
  let total = 1n;
  for (let left = exponent, square = mod(base); left > 0n; left >>= 1n, square = mod(square * square)) {
    if (left & 1n) total = mod(total * square);
  }
  return total;
}

/** Return the point that 32 bytes stand for, or undefined. */
function point(text: Uint8Array): Point | undefined {
  const both = number(text);
  return pointOf(both % 2n ** 255n, both >> 255n);
}

function pointOf(height: bigint, sign: bigint): Point | undefined {
  const y = mod(height);
  const square = mod((y * y - 1n) * power(CURVE * y * y + 1n, FIELD - 2n));
  let x = power(square, (FIELD + 3n) / 8n);
  if (mod(x * x - square) !== 0n) x = mod(x * ROOT);
  if (mod(x * x - square) !== 0n || (x === 0n && sign === 1n)) return undefined;
  if ((x & 1n) !== sign) x = FIELD - x;
  return [x, y, 1n, mod(x * y)];
}

function sum(one: Point, other: Point): Point {
  const low = (one[1] - one[0]) * (other[1] - other[0]);
  const high = (one[1] + one[0]) * (other[1] + other[0]);
  const [turned, scaled] = [mod(2n * one[3] * other[3]) * CURVE, 2n * one[2] * other[2]];
  const [e, f, g, h] = [mod(high - low), mod(scaled - turned), mod(scaled + turned), mod(high + low)];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function times(scale: bigint, one: Point): Point {
  let total: Point = [0n, 1n, 1n, 0n];
  for (let left = scale, power = one; left > 0n; left >>= 1n, power = sum(power, power)) {
    if (left & 1n) total = sum(total, power);
  }
  return total;
}

function same(one: Point, other: Point): boolean {
  return mod(one[0] * other[2] - other[0] * one[2]) === 0n && mod(one[1] * other[2] - other[1] * one[2]) === 0n;
}
