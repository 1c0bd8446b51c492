import words from "../api/variation/words.json" with { type: "json" };
import type { Report } from "../report/report-shape.js";
import { isFault, type OutcomeId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { RunConditions } from "../runs/conditions.js";
import type { Arrival, VariedPoint } from "../sandbox/run-trace.js";

/** The requests with one key in a run. */
export interface SentKey {
  readonly key: string;
  /** Whether no sandbox has the key. A run with another seed sends another one in its place. */
  readonly isUnknown: boolean;
  readonly requests: readonly KeyRequest[];
}

export interface KeyRequest {
  readonly id: string;
  /** Where it ended, or would have ended without the conditions of the run. */
  readonly outcome: OutcomeId;
  /** Whether a fault may hit it: it may be sent again, and its response has a body. */
  readonly canFail: boolean;
  readonly isHit?: boolean;
  /** How it came after the last rejection of its key by a resend. */
  readonly arrival?: Arrival | undefined;
}

/** When a run is ended, in milliseconds. */
export interface Timeouts {
  readonly total: number;
  /** Time since its start or its last request. */
  readonly silent: number;
}

export interface RunRequest {
  /** Its name in `--only`. */
  readonly name: string;
  readonly seed: number;
  readonly conditions: RunConditions;
  readonly timeouts: Timeouts;
  /** Whether no other run may be under way. Default: false. */
  readonly isAlone?: boolean;
}

/** How a run ended, and what its requests show, over all its sandboxes. */
export interface RunEnd {
  readonly result: "passed" | "failed" | "timed_out";
  readonly code: number | null;
  readonly durationMs: number;
  readonly report: Report;
  /** Whether another run was under way at the same time. */
  readonly isShared?: boolean;
  /** The last lines of its output, without keys and colors. */
  readonly output: readonly string[];
  /** Why the command could not be started. */
  readonly failure?: Error & { readonly code?: string | undefined };
  readonly sent: readonly SentKey[];
  /** What differed from `minimal`. */
  readonly points: readonly VariedPoint[];
  /** The requests that the conditions of the run hit. */
  readonly hits: number;
  /** The last response, and how it varied. */
  readonly last: (KeyRequest & Pick<RunEnd, "points">) | undefined;
  /** Where the client's tests set the seed of a sandbox to another one than the run's, as a sentence. */
  readonly pinned: string | undefined;
  /** The assumptions that its sandboxes set, and that the run would vary. */
  readonly ownAssumptions: readonly string[];
  readonly scenarios: readonly string[];
}

/** A run of the client's command. */
export interface ClientRun extends RunRequest, RunEnd {
  /** Its place in the order in which the runs ended, from 1. */
  readonly number: number;
}

export interface Tools {
  /** Runs the client once it is its turn; `undefined` if the run was stopped. */
  readonly runClient: (request: RunRequest) => Promise<RunEnd | undefined>;
  /** Shows that a run has ended; `expected`: how many runs there will be. */
  readonly ended: (run: ClientRun, expected: number) => void;
  /** Makes all later runs one at a time, because this run failed next to another and passed alone. */
  readonly separate: (name: string) => void;
  /** Real time in milliseconds. */
  readonly stopwatch: () => number;
}

/** Why something shows nothing about the client. */
export interface Reason {
  readonly why: string;
  readonly whatToDo: string;
}

export const notMade: Reason = { why: "the run was not made", whatToDo: "Run certify again." };
export const tooLate: Reason = {
  why: "the command did not end in time",
  whatToDo: "Set a longer --timeout.",
};

const rows: Readonly<Record<string, { remedy: string; variants: Readonly<Record<string, string>> }>> = words;

/** As in "has an `ETag`"; `undefined` for what `minimal` does. */
export const wordsOf = (row: string, variant: string) => rows[row]?.variants[variant];

export const remedyOf = (row: string) => rows[row]?.remedy ?? "";

export const hasFailed = (run: ClientRun | undefined): run is ClientRun =>
  run !== undefined && run.result !== "passed";

/** For a run that ended differently although the sandbox behaved the same. */
export const findDependency = "Find out what else the command depends on: time, order, other tests.";

/** Why a failure shows nothing: the same conditions have given two results. */
export const whyUnstable = (one: ClientRun, other: ClientRun): Reason => ({
  why: `the command passes and fails under the same conditions (${one.name}, runs ${one.number} and ${other.number})`,
  whatToDo: findDependency,
});

export const idOfPoint = ({ row, status, variant }: VariedPoint) => `${row} ${status} ${variant}`;

/** The number of a run's requests: all, or those of one outcome. */
export const requestsIn = ({ sent }: Pick<RunEnd, "sent">, outcome?: OutcomeId) =>
  sent.flatMap(({ requests }) => requests).filter((one) => outcome === undefined || one.outcome === outcome)
    .length;

const rerun =
  "Turn off what runs only some of your tests, or none, such as `--rerun-tasks` of Gradle, `--force` of Turborepo, `--skip-nx-cache` of Nx, or `--no-cache`, and leave out `--onlyChanged`.";

/** Returns why a run that passed shows nothing, such as one without its subject; `undefined` if it does. */
export function whyNotJudged(
  plain: Pick<RunEnd, "sent">,
  run: Pick<RunEnd, "sent" | "pinned" | "points" | "hits">,
  subject: "varied" | "hit",
): Reason | undefined {
  const missing = missingIn(plain, run);
  if (run.sent.length === 0 && missing.length > 0)
    return { why: "the command sent no request (a cache of your test runner?)", whatToDo: rerun };
  if (subject === "varied" && run.pinned !== undefined)
    return { why: run.pinned, whatToDo: "Leave the seed out: the sandbox then has the run's." };
  if (subject === "varied" && run.points.length === 0)
    return {
      why: "no response varied",
      whatToDo: "Leave out what your tests set themselves, such as assumptions.",
    };
  if (subject === "hit" && run.hits === 0)
    return {
      why: "no request was hit",
      whatToDo: "Send the requests of the plain run to the sandbox, and not to a copy.",
    };
  if (missing.length === 0) return undefined;
  const most = missing.length > 3 ? [...missing.slice(0, 3), "others"] : missing;
  const why = `the command did not send what it sent in the plain run: ${listed(most, "and")}`;
  return { why, whatToDo: `Send the same keys to the same endpoints in each run. ${rerun}` };
}

/** What the plain run sent and the run did not, as in "`active` (200.test)". What follows a request that was hit may change with it. */
function missingIn(plain: Pick<RunEnd, "sent">, run: Pick<RunEnd, "sent">): string[] {
  const inRun = new Set(run.sent.flatMap(requestsOf));
  const isHit = (key: string) =>
    run.sent.some((one) => one.key === key && one.requests.some((request) => request.isHit));
  const others = plain.sent.filter(({ key }) => !isHit(key));
  return [...new Set(others.flatMap(requestsOf))].filter((request) => !inRun.has(request));
}

function requestsOf({ key, isUnknown, requests }: SentKey): string[] {
  const name = isUnknown || key === "" ? "" : `\`${key}\` `;
  return requests
    .filter(({ outcome }) => !isFault(outcome))
    .map(({ outcome }) => (name === "" ? `a request that ends on ${outcome}` : `${name}(${outcome})`));
}

const errorLine =
  /\b\w*(?:Error|Exception)\b(?: \[\w+\])?: \S|^E {2,}\S|^\s*error: \S|\bAssertion\w* failed|^\s*[✖✗✘×●] \S|^not ok \S|\bFAIL(?:ED)?\b.*\S/;

/** The start of a text below it in YAML, as `node --test` writes an error. */
const yamlBlock = /^\s*error: [|>][-+]?$/;

/** The last line of a command that shows an error, or its last line. */
export function lastLineOf({ output }: Pick<ClientRun, "output">): { readonly lastLine?: string } {
  const at = output.findLastIndex((line) => errorLine.test(line));
  const line = output[at] ?? output.findLast((text) => text.trim() !== "");
  if (line === undefined) return {};
  const text = yamlBlock.test(line) ? textBelow(output.slice(at)) : line;
  return { lastLine: text.trim().slice(0, 300) };
}

/** The text of the first line, and of those below it that are further to the right, on one line. */
function textBelow([first = "", ...others]: readonly string[]): string {
  const left = first.search(/\S/);
  const end = others.findIndex((line) => line.trim() !== "" && line.search(/\S/) <= left);
  const lines = end === -1 ? others : others.slice(0, end);
  return [first.replace(/ [|>][-+]?$/, ""), ...lines]
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");
}
