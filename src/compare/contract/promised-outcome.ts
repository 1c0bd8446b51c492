import type { outcomes } from "../../rules/outcomes.js";

/** The id of an outcome that the specification promises: a contract can be compared with these only. */
export type PromisedOutcomeId = Extract<(typeof outcomes)[number], { readonly promised: true }>["id"];
