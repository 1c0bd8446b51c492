import type { PathId } from "../domain/outcomes.js";

/** One request that a check sends. */
export interface Probe {
  readonly pathId: PathId;
  /** What the x-api-key header holds; `undefined` when there is none. Not to be printed. */
  readonly apiKey: string | undefined;
  /** The environment variable that the key came from; `undefined` when it came from none. */
  readonly variable: string | undefined;
}

/** What came back, as it came. */
export interface RawAnswer {
  readonly status: number;
  /** Names and values in their order and casing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Without its content encoding. */
  readonly body: Uint8Array;
}

/** Why nothing came back that could be read. */
export interface NoAnswer {
  readonly kind: NoAnswerKind;
  /** What was found, as the rest of a sentence; may name the system's own code of the error. */
  readonly found: string;
  /** What to do about it, a sentence. */
  readonly hint: string;
}

export type NoAnswerKind =
  | "dns"
  | "refused"
  | "unreachable"
  | "tls"
  | "timeout"
  | "reset"
  | "truncated"
  | "too_large"
  | "not_http";

/** Sends one request for the key's context; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawAnswer | NoAnswer>;

/** Whether nothing came back that could be read. */
export function isNoAnswer(reply: RawAnswer | NoAnswer): reply is NoAnswer {
  return "kind" in reply;
}
