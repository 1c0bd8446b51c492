import { adviceLevels } from "../domain/advice.js";
import { type Assumptions, profiles } from "../domain/assumptions.js";
import { faultPathIds, outcomes } from "../domain/outcomes.js";
import { failureShape } from "../report/brief.js";
import { reportShape } from "../report/report-shape.js";
import { assumptionsSchema } from "../scenario/format/assumptions.js";
import { sha256, time } from "../scenario/format/fields.js";
import {
  choice,
  count,
  described,
  growingChoice,
  list,
  mapping,
  number,
  optional,
  orNull,
  type Shape,
  text,
  type ValueOf,
} from "../schema/shape.js";
import { inJsonOfAnyVersion } from "../schema/spelling.js";

// `descriptions.json` describes each member, as the JSON Schema of the file shows it.

/** `unusable`: no statement about the client is possible: its baseline does not pass, or it covers too little of the API. */
export type CertifyVerdict = (typeof certifyVerdicts)[number];
export const certifyVerdicts = ["passed", "failed", "flaky", "unusable"] as const;

/** `flaky`: the same run passed once and failed once. */
export type RunOutcome = (typeof runOutcomes)[number];
export const runOutcomes = ["passed", "failed", "flaky", "timed_out", "not_run"] as const;

/** The promises that are broken. */
export const promiseChoices = ["all", "swaps", "none"] as const;
const promiseKinds = ["swap", "other"] as const;

const pathId = () => growingChoice(outcomes.map(({ path }) => path));
const fault = () => growingChoice(faultPathIds);

const point = mapping({ row: text(), variant: text(), status: count() });
/** A variant of a row of the variation table, on the answers of one status. */
export interface CausePoint extends ValueOf<typeof point> {}

const cause = mapping({
  /** As in `fails when a 401 has charset=utf-8 in its Content-Type`. */
  sentence: text(),
  /** The remedy with its rule, for each row that breaks it. */
  whatToDo: list(text()),
  /** The varied points that all have to be there for the client to fail; none when a fault alone breaks it. */
  points: list(point),
  fault: optional(fault()),
  /** The path on which it fails, when it is one alone. */
  pathId: optional(pathId()),
});
/** The least that breaks the client. */
export interface RunCause extends ValueOf<typeof cause> {}

const run = mapping({
  /** As in `varied 7` or `fault.reset`; no two runs have the same. */
  name: text(),
  profile: choice(profiles),
  seed: count(),
  fault: optional(fault()),
  outcome: choice(runOutcomes),
  /** The exit code; `null` for a run that was not made, or had to be ended. */
  code: orNull(number()),
  durationMs: count(),
  /** The number of requests of the client. */
  requests: count(),
  /** The coverage, a whole number, rounded down. */
  percent: count({ most: 100 }),
  /** The last request before the client ended. */
  lastRequest: optional(mapping({ id: text(), pathId: pathId(), status: count() })),
  /** Why it failed, narrowed down. */
  cause: optional(cause),
});
/** One run of the command in a fresh sandbox. */
export interface Run extends ValueOf<typeof run> {}

const promise = mapping({
  /** As in `200.test:scopes-empty`. */
  id: text(),
  pathId: pathId(),
  /** `swap`: an accepted key is rejected, or the reverse. */
  kind: choice(promiseKinds),
  /** The broken response. */
  sentence: text(),
  /** The harm to the users of a client that does not notice. */
  loss: text(),
  /** `not_tried`: no response could show it. */
  outcome: choice(["noticed", "not_noticed", "not_tried", "not_run"]),
  /** The exit code; `null` for a run that was not made, or had to be ended, which is not noticed. */
  code: orNull(number()),
  durationMs: count(),
});
/** One run of the command with a broken promise. */
export interface PromiseRun extends ValueOf<typeof promise> {}

const gates = mapping({
  /** The lowest level of advice that fails the client. */
  failOn: choice(adviceLevels),
  /** In percent of the promised paths. */
  minCoverage: count({ most: 100 }),
  /** In percent of the promises that were tried. Left out: each swap must be noticed. */
  minNoticed: optional(count({ most: 100 })),
});
/** What the client must reach besides passing each run. */
export interface Gates extends ValueOf<typeof gates> {}

const result = {
  verdict: choice(certifyVerdicts),
  /** The bundled name, or the file as it was given. */
  scenario: text(),
  /** SHA-256 in hex of its content: that of a file that was moved is the same. */
  scenarioDigest: sha256(),
  /** The version of the API's specification. */
  specification: text(),
  /** The version of svc-sandbox. */
  sandbox: text(),
  /** What the caller says of the client. */
  clientVersion: optional(text()),
  /** The program of the client and its arguments. */
  command: list(text()),
  /** The hosts whose requests were led into the sandbox. Left out: none. */
  intercept: optional(list(text())),
  /** The seeds of the runs with the profile `varied`. */
  seeds: list(count()),
  /** The kinds of faults that were tried, each in a run of its own. */
  faults: list(fault()),
  /** The assumptions that the baseline was given, as learned from a real environment. Left out: none. */
  like: optional(assumptionsSchema as Shape as Shape<Partial<Assumptions>>),
  /** ISO 8601 in UTC, on the real clock. */
  startedAt: time(),
  /** The real time from the first run to the last, in milliseconds. */
  durationMs: count(),
  /** Every run, in the order of the plan. */
  runs: list(run),
  /** The runs with a broken promise, which the client must notice: by an exit code other than 0. */
  promises: mapping({
    kinds: choice(promiseChoices),
    /** The number of promises that some response could show. */
    tried: count(),
    noticed: count(),
    runs: list(promise),
  }),
  gates,
  /** The gates that do not hold. */
  unmet: list(mapping({ threshold: text(), sentence: text() })),
  /** The reports of all runs but those with a broken promise, merged. */
  report: reportShape,
};
const resultShape = mapping(result);
/** The outcome of certifying a client. Plain data; its texts may hold what the caller wrote: renderers redact and escape. */
export interface CertifyResult extends ValueOf<typeof resultShape> {}

/** The version of the certificate's format: another one when a reader of this one could misread it. */
export const certificateFormat = 2;

/** A certificate as a file: its JSON Schema is made from this, and what is read is checked by it. */
export const certificateShape = inJsonOfAnyVersion(
  mapping({
    svc_sandbox_certificate: choice([certificateFormat]),
    ...result,
    conclusion: optional(
      described(text(), "The verdict as text; only --json prints it, as hint and failures."),
    ),
    hint: optional(described(text(), "What to do when the baseline does not pass or sends no request.")),
    failures: optional(described(list(failureShape), "One failure for each cause.")),
  }),
);
