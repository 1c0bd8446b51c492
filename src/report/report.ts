import type { AdviceId, AdviceLevel } from "../domain/advice.js";
import type { Profile } from "../domain/assumptions.js";
import type { PathId } from "../domain/outcomes.js";

/** Which ways of ending a client has met, and how it behaved. Plain data; holds no key. */
export interface Report {
  readonly scenario: string;
  readonly seed: number;
  readonly profile: Profile;
  /** How many requests the client made. */
  readonly requests: number;
  readonly coverage: Coverage;
  /** Every path, in the order of the list of outcomes. */
  readonly paths: readonly ReportedPath[];
  /** The advice that was earned, the most serious first. */
  readonly advice: readonly ReportedAdvice[];
}

/** How much of what the API promises was met. */
export interface Coverage {
  /** A whole number, rounded down: 100 is all. */
  readonly percent: number;
  readonly met: number;
  readonly promised: number;
}

/** One way in which a request can end. */
export interface ReportedPath {
  readonly pathId: PathId;
  /** Whether the specification promises it; the coverage is of these. */
  readonly promised: boolean;
  readonly met: boolean;
  readonly count: number;
  /** When requests end like this. */
  readonly when: string;
  /**
   * What to do to meet it, with a line for a shell that has the environment for clients; `null` when it was met, and for
   * what is not promised when no single request leads there.
   */
  readonly howToMeet: string | null;
}

/** An advice and the requests that earned it. */
export interface ReportedAdvice {
  readonly id: AdviceId;
  readonly level: AdviceLevel;
  /** The rules or the section behind it. */
  readonly rule: string;
  /** How many requests earned it. */
  readonly count: number;
  readonly meaning: string;
  readonly whatToDo: string;
  /** The first of the requests, five at most. */
  readonly examples: readonly ReportedRequest[];
}

/** A request that earned an advice. */
export interface ReportedRequest {
  /** The request id. */
  readonly id: string;
  /** ISO 8601, on the sandbox's clock. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** The ref of the key that the advice is about, when it was one of the sandbox: of one in the query, of that one. */
  readonly key: string | null;
  /** Of that key, or of what was presented as one. */
  readonly fingerprint: string | null;
  /** For a method or path that the API does not have: the ones that were probably meant. */
  readonly didYouMean: string | null;
}
