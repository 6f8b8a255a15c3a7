/**
 * The most that a device computes with: every limit of format 1, in one place.
 *
 * A device is asked by somebody it need not trust, so nothing that is asked may keep it busy for long, fill its memory or
 * make it send much. `docs/wire.md` has the same numbers in words, and golden vectors try a question at each limit and one
 * beyond it.
 */

/** Bytes of a question. */
export const MOST_QUESTION = 2 ** 23;

/** Entries of all lists of a question together; a list within a list is one more. */
export const MOST_NUMBERS = 2 ** 20;

/** Lists and objects within each other, the question itself among them. */
export const MOST_DEPTH = 3;

/** Digits of epsilon and delta before the point or slash, and as many after it. */
export const MOST_DIGITS = 100;

/** The epsilon of a question. */
export const MOST_EPSILON = 64;

/** An item, a bin, and the length of a prefix. */
export const MOST_ITEM = 2 ** 31 - 1;

/** Candidates and dummies together, and the padding; the numbers that texts become. */
export const MOST_SYMBOLS = 2 ** 31;

/** Symbols of a text, and of what one begins with: a text is looked at once for every length of a beginning. */
export const MOST_TEXT = 2 ** 10;

/** Items whose cells are asked for: each one more doubles them. */
export const MOST_CELLS = 16;

/** The weights of a projection, with either sign: sums of them take the same time whatever is held. */
export const MOST_WEIGHT = 2 ** 20;

/** The ends of a range, with either sign: no whole number of a question or a report is larger. */
export const MOST_RANGE = Number.MAX_SAFE_INTEGER;

/** Values that may meet in a bucket: the probability of more is a power of this. */
export const MOST_SHARE = 2 ** 12;

/** Candidates and dummies of an oracle that reports a subset: its loss is made of binomial coefficients. */
export const MOST_SUBSET = 2 ** 17;

/** Points of the projective space of `geometry`, of which one is reported. */
export const MOST_POINTS = 2 ** 31;

/** Of the own values of `privset`, a subset drawn at random may meet so many: about as often it is drawn anew. */
export const MOST_MET = 4;

/** Bytes of a report. */
export const MOST_REPORT = 2 ** 16;
