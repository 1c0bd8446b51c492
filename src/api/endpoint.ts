import type { Assumptions } from "../domain/assumptions.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import type { JsonBody } from "./messages.js";

/** A JSON Schema 2020-12, as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * One endpoint of the API. A new endpoint is one file with one of these, and its row in `routes.ts`: the gate, the
 * journal, the doors and the OpenAPI document pick it up from there.
 */
export interface Endpoint {
  readonly method: "GET";
  /** The exact path. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The scope that it needs; `null` when none. */
  readonly scope: (assumptions: Assumptions) => string | null;
  /** What the body of a 200 looks like, and one that could be sent. */
  readonly responseSchema: JsonSchema;
  readonly responseExample: unknown;
  /** The body of the 200 for a caller that passed the gate and was counted. */
  readonly respond: (caller: KeyEntry, world: World) => JsonBody;
}
