/** What runs on a device, for browsers and Node: see `docs/clients.md` and `docs/wire.md` of discreet. */

export { type Pair } from "./answering.js";
export { becomes } from "./becoming.js";
export { chanceOf } from "./chances.js";
export { type Choosing, chosen } from "./choosing.js";
export { client, type Options, type Report } from "./client.js";
export { type QuestionText, type StudyText, questionsOf, studyOf } from "./documents.js";
export { type Take } from "./draws.js";
export { type Fields, type Json, Refused } from "./json.js";
export { type Known, Memory, type Store, indexedStore, localStore } from "./memory.js";
export { Participant, type ParticipantOptions, type Standing } from "./participant.js";
export { type Send, Unreached } from "./sending.js";
export { type Limit, check, parsed } from "./trust.js";
