import { reportShape } from "../report/report-shape.js";
import { unmetShape } from "../report/thresholds.js";
import { adviceLevels } from "../rules/advice.js";
import { profiles } from "../rules/assumptions.js";
import { faultPathIds, type PathId, pathIdShape } from "../rules/outcomes.js";
import { redactEncoded, redactValue } from "../rules/redact.js";
import { inJsonOfAnyVersion, snakeCase } from "../rules/schema/json.js";
import { type JsonSchema, jsonSchemaDocument } from "../rules/schema/json-schema.js";
import type { Shape, ValueOf } from "../rules/schema/shape.js";
import * as s from "../rules/schema/shape.js";
import { sha256, time } from "../scenario/format/fields.js";
import { descriptionOf } from "../scenario/format/json-schema.js";

const word = (example: string, pattern: RegExp) => s.text({ example, pattern });
const version = () => word("1.0.0", /^[\w.+-]{1,100}$/);

/** `unusable`: nothing can be concluded about the client, because its baseline fails or it covers too little of the API. */
export type CertifyVerdict = (typeof certifyVerdicts)[number];
export const certifyVerdicts = ["passed", "failed", "flaky", "unusable"] as const;

export type RunOutcome = (typeof runOutcomes)[number];
export const runOutcomes = ["passed", "failed", "flaky", "timed_out", "not_tried", "not_run"] as const;

export const promiseChoices = ["all", "swaps", "none"] as const;

const pathId = () => ({ ...pathIdShape(), isGrowing: true }) as Shape<PathId>;
const fault = () => s.growingChoice(faultPathIds);

const point = s.mapping({
  row: s.described(s.text(), "The row of the table of variations."),
  variant: s.described(s.text(), "The variant of that row."),
  status: s.described(s.count(), "The status of the varied responses."),
});
/** A variant of a row of the variation table, on the responses of one status. */
export interface CausePoint extends ValueOf<typeof point> {}

const cause = s.mapping({
  sentence: s.described(s.text(), "The minimal cause of the failure, as text."),
  whatToDo: s.described(
    s.list(s.text()),
    "How to fix the client, with the rule of the specification: one text for each cause.",
  ),
  points: s.described(
    s.list(point),
    "The varied points that break the client together; none if only a fault does.",
  ),
  pathId: s.optional(s.described(pathId(), "The path where the client fails, if there is only one.")),
  fault: s.optional(s.described(fault(), "The fault that breaks the client.")),
});
export interface RunCause extends ValueOf<typeof cause> {}

const lastRequest = s.mapping({
  id: s.described(s.text(), "The request id."),
  pathId: s.described(pathId(), "The path where it ended."),
  status: s.described(s.count(), "The status of the response; 0 if a fault left none."),
});

const reason = s.mapping({
  why: s.described(s.text(), "The reason."),
  whatToDo: s.described(s.text(), "What to change so that it is tried."),
});
/** Why something shows nothing about the client. */
export interface Reason extends ValueOf<typeof reason> {}

const run = s.mapping({
  name: s.described(s.text(), "The unique name of the run."),
  profile: s.described(s.choice(profiles), "The profile of the sandbox."),
  seed: s.described(s.count(), "The seed of the sandbox."),
  fault: s.optional(s.described(fault(), "The fault that was injected.")),
  outcome: s.described(
    s.choice(runOutcomes),
    "flaky: the same run passed once and failed once. not_tried: the command ended with 0, but what it sent shows nothing. not_run: the run was not made.",
  ),
  code: s.described(s.orNull(s.number()), "The exit code; null if there is none."),
  durationMs: s.described(s.count(), "Its real duration, in milliseconds."),
  requests: s.described(s.count(), "The number of requests of the client."),
  percent: s.described(s.count({ max: 100 }), "The share of the promised paths, rounded down."),
  lastRequest: s.optional(s.described(lastRequest, "The last request before the client ended.")),
  cause: s.optional(s.described(cause, "The minimal cause of the failure.")),
  reason: s.optional(s.described(reason, "Why it was not tried.")),
});
export interface Run extends ValueOf<typeof run> {}

const promise = s.mapping({
  id: s.described(s.text(), "The promise, in the form that svc-sandbox exec --break accepts."),
  pathId: s.described(pathId(), "The path where it was broken."),
  kind: s.described(s.choice(["swap", "other"]), "swap: an accepted key is rejected, or the reverse."),
  sentence: s.described(s.text(), "The broken response, as text."),
  loss: s.described(s.text(), "The harm to the users of a client that does not notice."),
  outcome: s.described(
    s.choice(["noticed", "not_noticed", "not_tried", "not_run"]),
    "not_tried: the run shows nothing about it. not_run: the run was not made.",
  ),
  code: s.described(s.orNull(s.number()), "The exit code; null if the run was not made or timed out."),
  durationMs: s.described(s.count(), "The real duration of the run, in milliseconds."),
  reason: s.optional(s.described(reason, "Why it was not tried.")),
});
export interface PromiseRun extends ValueOf<typeof promise> {}

const retry = s.mapping({
  after: s.described(
    s.choice([
      "401",
      "403",
      "429 with Retry-After",
      "429 with a date",
      "429 without Retry-After",
      "503 with Retry-After",
      "503 with a date",
      "outage",
    ]),
    "What the client got instead of a 200: a rejection, or 503 until the run ended. A 429 has Retry-After, 2 to 4 seconds by the seed, or not. with a date: Retry-After is a date.",
  ),
  outcome: s.described(
    s.choice(["passed", "failed", "not_tried"]),
    "failed: it retried after a rejection, retried too soon, or did not pause or give up. not_tried: the runs do not show it.",
  ),
  sentence: s.described(s.text(), "What the client did, or why it was not tried."),
  whatToDo: s.optional(s.described(s.text(), "The fix, of the client or of what prevents the experiment.")),
});
export interface RetryResult extends ValueOf<typeof retry> {}

export const openKinds = [
  "experiment",
  "run",
  "assumptions",
  "promise",
  "broken_promises",
  "other_promises",
  "faults",
  "unrepeatable_writes",
  "rejected_writes",
] as const;

/** A run, promise or experiment that shows nothing about the client, or what no run was asked for. */
const notTried = s.mapping({
  kind: s.described(
    s.choice(openKinds),
    "run, promise, experiment: one of them. assumptions: what the client's own scenario sets. The others: what no run was asked for.",
  ),
  what: s.described(s.text(), "The run, the promise, or the experiment."),
  ...reason.fields,
});
export interface NotTried extends ValueOf<typeof notTried> {}

const gates = s.mapping({
  failOn: s.described(s.choice(adviceLevels), "The lowest level of advice that fails the client."),
  minCoverage: s.described(s.count({ max: 100 }), "The required share of the promised paths, in percent."),
  minNoticed: s.optional(
    s.described(
      s.count({ max: 100 }),
      "The required share of the tried promises, in percent; if left out, each swap must be noticed.",
    ),
  ),
});
export interface Gates extends ValueOf<typeof gates> {}

const documentShape = s.mapping({
  title: s.described(s.text(), "The title in the document."),
  version: s.described(s.text(), "The version in the document."),
  file: s.optional(s.described(s.text(), "The document's file, as given.")),
  digest: s.described(sha256(), "SHA-256 in hex of the document's text."),
  given: s.optional(s.described(s.flag(), "Whether --openapi gave it. Otherwise the scenario names it.")),
});

const promises = s.mapping({
  kinds: s.described(
    s.choice(promiseChoices),
    "The promises that were broken. swaps: an accepted key is rejected, or the reverse.",
  ),
  tried: s.described(
    s.count(),
    "The number of promises of released endpoints that the client got a response with.",
  ),
  noticed: s.described(
    s.count(),
    "The number of promises that the client noticed, by an exit code other than 0.",
  ),
  runs: s.described(s.list(promise), "Every run with a broken promise."),
});

const result = {
  verdict: s.described(
    s.choice(certifyVerdicts),
    "passed: every run that shows something passed, at least one of each profile and fault and of the promises, and every gate. failed: some run or gate failed. flaky: some run passed once and failed once. unusable: nothing can be certified, because the baseline fails or covers too little, or runs show nothing.",
  ),
  scenario: s.described(s.text(), "The name of the scenario, or its given file."),
  otherScenarios: s.optional(
    s.described(s.list(s.text()), "The other scenarios of sandboxes in the client's own processes."),
  ),
  scenarioDigest: s.described(
    sha256(),
    "SHA-256 in hex of the scenario as JSON with sorted members, without the document.",
  ),
  document: s.optional(s.described(documentShape, "The OpenAPI document whose operations the sandbox had.")),
  specification: s.described(version(), "The version of the API's specification."),
  sandbox: s.described(version(), "The version of svc-sandbox."),
  command: s.described(s.list(s.text()), "The client's program and its arguments, without keys."),
  seeds: s.described(s.list(s.count()), "The seeds of the runs with varied responses."),
  faults: s.described(s.list(fault()), "The tried faults, each in its own run."),
  startedAt: s.described(time(), "The real time when the first run started."),
  durationMs: s.described(s.count(), "The real duration of all runs, in milliseconds."),
  runs: s.described(s.list(run), "Every run, in the order of the plan."),
  promises: s.described(
    promises,
    "The runs with a broken promise of the specification; they do not count for the report.",
  ),
  retries: s.optional(s.described(s.list(retry), "The experiments with retries.")),
  notTried: s.described(
    s.list(notTried),
    "What shows nothing about the client: runs, promises and experiments that were not made, or that it made impossible.",
  ),
  gates: s.described(gates, "Requirements in addition to passing each run."),
  unmet: s.described(s.list(unmetShape), "The gates that failed."),
  report: s.described(reportShape, "Coverage and advice over all runs without a broken promise."),
};
const resultShape = s.mapping(result);
/** The outcome of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
export interface CertifyResult extends ValueOf<typeof resultShape> {}

const failureShape = s.mapping({
  id: s.described(s.text(), "The run, the promise or the flag that failed, or client for the command."),
  actual: s.described(s.text(), "The result."),
  wanted: s.described(s.text(), "The result that passes."),
  cause: s.described(s.text(), "Why it failed."),
  whatToDo: s.described(s.text(), "The fix."),
  rerun: s.optional(s.described(s.text(), "The command that shows it again.")),
  output: s.optional(
    s.described(
      s.list(s.text()),
      "The names of failed tests, or the last lines, of the client's output, without keys.",
    ),
  ),
});
export interface Failure extends ValueOf<typeof failureShape> {}

/** The version of the certificate's format. It changes if a reader of this version could misread a new one. */
const certificateFormat = 1;

/** A certificate as a file: its JSON Schema and its checks derive from this. */
const certificateShape = inJsonOfAnyVersion(
  s.mapping({
    svc_sandbox_certificate: s.described(s.choice([certificateFormat]), "The version of this format."),
    ...result,
    conclusion: s.optional(
      s.described(s.text(), "The verdict as text; only --json prints it, as hint and failures."),
    ),
    hint: s.optional(s.described(s.text(), "The fix when the baseline fails or sends no request.")),
    failures: s.optional(s.described(s.list(failureShape), "One failure for each cause.")),
  }),
);

export interface Certificate {
  /** Without keys. */
  readonly result: CertifyResult;
  /** The content of the file, with members in snake_case. */
  readonly json: object;
}

/** Returns the certificate of a result, with everything that looks like a key shortened. */
export function certificateOf(result: CertifyResult): Certificate {
  const safe = redactValue(result, redactEncoded);
  // Assumptions have their names in snake_case already.
  const facts = { svc_sandbox_certificate: certificateFormat, ...(snakeCase(safe) as object) };
  // Removes members that are `undefined`.
  return { result: safe, json: JSON.parse(JSON.stringify(facts)) };
}

export function certificateJsonSchema(): JsonSchema {
  return jsonSchemaDocument(certificateShape, descriptionOf);
}
