import type { AdviceId, AdviceLevel } from "../domain/advice.js";
import type { Profile } from "../domain/assumptions.js";
import type { PathId } from "../domain/outcomes.js";

/** The paths that a client has met, and advice on how it behaved. Plain data; holds no key. */
export interface Report {
  readonly scenario: string;
  readonly seed: number;
  readonly profile: Profile;
  /** The assumptions that the scenario sets itself where the profile would set them otherwise, or vary them. */
  readonly pinned: readonly string[];
  /** The runs that the report is merged from, with scenario, seed, profile and what is pinned of each; left out: it is of one run. */
  readonly runs?: readonly Pick<Report, "scenario" | "seed" | "profile" | "pinned">[];
  /** The number of requests of the client. */
  readonly requests: number;
  /** The number of answers, delayed by a fault, for which the client did not wait; only a server knows. */
  readonly unread: number;
  readonly coverage: Coverage;
  /** The kinds of faults that were met. */
  readonly faults: Share;
  /** The paths of the preview that were met; `null` where there is no preview. */
  readonly preview: Share | null;
  /** Every path, in the order of the list of outcomes. */
  readonly paths: readonly ReportedPath[];
  /** The advice that was earned, the most serious first. */
  readonly advice: readonly ReportedAdvice[];
}

/** The share of the promised paths that was met. */
export interface Coverage {
  /** A whole number, rounded down: 100 is all. */
  readonly percent: number;
  readonly met: number;
  readonly promised: number;
}

/** The number of the paths that were met, of all that there are. */
export interface Share {
  readonly met: number;
  readonly total: number;
}

/** One way in which a request can end. */
export interface ReportedPath {
  readonly pathId: PathId;
  /** Whether the specification promises it; the coverage is of these. */
  readonly promised: boolean;
  /** Whether a request ended there other than by a key in a wrong place. */
  readonly met: boolean;
  /** The number of requests that ended like this; of a promised path without those to endpoints of the preview. */
  readonly count: number;
  /** The number of those to endpoints of the preview. */
  readonly previewCount: number;
  /** The requests that end like this. */
  readonly when: string;
  /**
   * The way to meet it, with a line for a shell that has the environment for clients; `null` when it was met, and for a path that
   * is not promised when no single request leads there.
   */
  readonly howToMeet: string | null;
}

/** An advice and the requests that earned it. */
export interface ReportedAdvice {
  readonly id: AdviceId;
  readonly level: AdviceLevel;
  /** The rules or the section behind it. */
  readonly rule: string;
  /** The number of requests that earned it. */
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
  /** The ref of the key that the advice is about (for a key in the query, of that one), if the sandbox has it. */
  readonly key: string | null;
  /** The fingerprint of that key, or of what was presented as one. */
  readonly fingerprint: string | null;
  /** For a method or path that the API does not have: the nearest it has. */
  readonly didYouMean: string | null;
}

/**
 * Reads a report that came as JSON, spelled as `GET /report` spells it; `undefined` for anything else.
 *
 * Members that it does not know are left in place: a newer sandbox may say more.
 */
export function parseReport(plain: unknown): Report | undefined {
  const report = camelCase(plain) as Partial<Report> | null | undefined;
  if (typeof report !== "object" || report === null) return undefined;
  const { scenario, requests, coverage, faults, paths, advice } = report;
  const areNamed = (list: unknown, member: string) =>
    Array.isArray(list) && list.every((item) => typeof item?.[member] === "string");
  const isReport =
    typeof scenario === "string" &&
    typeof requests === "number" &&
    typeof coverage?.percent === "number" &&
    typeof faults?.met === "number" &&
    areNamed(paths, "pathId") &&
    areNamed(advice, "id") &&
    advice?.every(({ examples }) => areNamed(examples, "id"));
  // A sandbox of an earlier version does not say what is pinned.
  return isReport ? ({ pinned: [], ...report } as Report) : undefined;
}

export function camelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCase);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      camelCase(member),
    ]),
  );
}
