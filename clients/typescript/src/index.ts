/** What runs on a device, for browsers and Node: see `docs/clients.md` and `docs/wire.md` of discreet. */

export { type Pair } from "./answering.js";
export { client, type Options } from "./client.js";
export { type Take } from "./draws.js";
export { type Fields, type Json, Refused } from "./json.js";
export { type Limit, check, parsed } from "./trust.js";
