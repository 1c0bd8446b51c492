import { failureShape, unmetShape } from "../report/brief.js";
import { reportShape } from "../report/report-shape.js";
import { sha256, time } from "../scenario/format/fields.js";
import { descriptionOf } from "../scenario/format/json-schema.js";
import { adviceLevels } from "../spec/advice.js";
import { profiles } from "../spec/assumptions.js";
import { faultPathIds, type PathId, pathIdShape } from "../spec/outcomes.js";
import { redactEncoded, redactValue } from "../spec/redact.js";
import { inJsonOfAnyVersion, snakeCase } from "../spec/schema/json.js";
import { type JsonSchema, jsonSchemaDocument } from "../spec/schema/json-schema.js";
import {
  choice,
  count,
  described,
  flag,
  growingChoice,
  list,
  mapping,
  number,
  optional,
  orNull,
  type Shape,
  text,
  type ValueOf,
} from "../spec/schema/shape.js";

const word = (example: string, pattern: RegExp) => text({ example, pattern });
const version = () => word("1.0.0", /^[\w.+-]{1,100}$/);

/** `unusable`: nothing can be concluded about the client, because its baseline fails or it covers too little of the API. */
export type CertifyVerdict = (typeof certifyVerdicts)[number];
export const certifyVerdicts = ["passed", "failed", "flaky", "unusable"] as const;

export type RunOutcome = (typeof runOutcomes)[number];
export const runOutcomes = ["passed", "failed", "flaky", "timed_out", "not_run"] as const;

export const promiseChoices = ["all", "swaps", "none"] as const;

const pathId = () => ({ ...pathIdShape(), isGrowing: true }) as Shape<PathId>;
const fault = () => growingChoice(faultPathIds);

const point = mapping({
  row: described(text(), "The row of the table of variations."),
  variant: described(text(), "The variant of that row."),
  status: described(count(), "The status of the varied responses."),
});
/** A variant of a row of the variation table, on the responses of one status. */
export interface CausePoint extends ValueOf<typeof point> {}

const cause = mapping({
  sentence: described(text(), "The minimal cause of the failure, as text."),
  whatToDo: described(
    list(text()),
    "How to fix the client, with the rule of the specification: one text for each cause.",
  ),
  points: described(
    list(point),
    "The varied points that break the client together; none if only a fault does.",
  ),
  pathId: optional(described(pathId(), "The path where the client fails, if there is only one.")),
  fault: optional(described(fault(), "The fault that breaks the client.")),
});
export interface RunCause extends ValueOf<typeof cause> {}

const lastRequest = mapping({
  id: described(text(), "The request id."),
  pathId: described(pathId(), "The path where it ended."),
  status: described(count(), "The status of the response; 0 if a fault left none."),
});

const run = mapping({
  name: described(text(), "The unique name of the run."),
  profile: described(choice(profiles), "The profile of the sandbox."),
  seed: described(count(), "The seed of the sandbox."),
  fault: optional(described(fault(), "The fault that was injected.")),
  outcome: described(choice(runOutcomes), "flaky: the same run passed once and failed once."),
  code: described(orNull(number()), "The exit code; null if there is none."),
  durationMs: described(count(), "Its real duration, in milliseconds."),
  requests: described(count(), "The number of requests of the client."),
  percent: described(count({ max: 100 }), "The share of the promised paths, rounded down."),
  lastRequest: optional(described(lastRequest, "The last request before the client ended.")),
  cause: optional(described(cause, "The minimal cause of the failure.")),
  pinned: optional(
    described(
      text(),
      "Why it shows nothing new although the client passed: the client's tests set the seed.",
    ),
  ),
});
export interface Run extends ValueOf<typeof run> {}

const promise = mapping({
  id: described(text(), "The promise, in the form that svc-sandbox exec --break accepts."),
  pathId: described(pathId(), "The path where it was broken."),
  kind: described(choice(["swap", "other"]), "swap: an accepted key is rejected, or the reverse."),
  sentence: described(text(), "The broken response, as text."),
  loss: described(text(), "The harm to the users of a client that does not notice."),
  outcome: described(
    choice(["noticed", "not_noticed", "not_tried", "not_run"]),
    "not_tried: the client got no response with it. not_run: the run was not made.",
  ),
  code: described(orNull(number()), "The exit code; null if the run was not made or timed out."),
  durationMs: described(count(), "The real duration of the run, in milliseconds."),
});
export interface PromiseRun extends ValueOf<typeof promise> {}

const retry = mapping({
  after: described(
    choice([
      "401",
      "403",
      "429 with Retry-After",
      "429 without Retry-After",
      "503 with Retry-After",
      "503 with a date",
      "outage",
    ]),
    "What the client got instead of a 200: a rejection, or 503 until the run ended. A 429 has Retry-After, 2 to 4 seconds by the seed, or not. with a date: Retry-After is a date.",
  ),
  outcome: described(
    choice(["passed", "failed", "not_tried"]),
    "failed: it retried after a rejection, retried too soon, or did not pause or give up. not_tried: the runs do not show it.",
  ),
  sentence: described(text(), "What the client did, or why it was not tried."),
  whatToDo: optional(described(text(), "The fix, of the client or of what prevents the experiment.")),
});
export interface RetryResult extends ValueOf<typeof retry> {}

export const openKinds = [
  "experiment",
  "run",
  "promise",
  "broken_promises",
  "other_promises",
  "faults",
  "unrepeatable_writes",
] as const;

/** A run, promise or experiment that shows nothing about the client, or what no run was asked for. */
const notTried = mapping({
  kind: described(
    choice(openKinds),
    "run, promise, experiment: one of them. The others: what no run was asked for.",
  ),
  what: described(text(), "The run, the promise, or the experiment."),
  why: described(text(), "The reason."),
  whatToDo: described(text(), "What to change so that it is tried."),
});
export interface NotTried extends ValueOf<typeof notTried> {}

const gates = mapping({
  failOn: described(choice(adviceLevels), "The lowest level of advice that fails the client."),
  minCoverage: described(count({ max: 100 }), "The required share of the promised paths, in percent."),
  minNoticed: optional(
    described(
      count({ max: 100 }),
      "The required share of the tried promises, in percent; if left out, each swap must be noticed.",
    ),
  ),
});
export interface Gates extends ValueOf<typeof gates> {}

const documentShape = mapping({
  title: described(text(), "The title in the document."),
  version: described(text(), "The version in the document."),
  file: optional(described(text(), "The document's file, as given.")),
  digest: described(sha256(), "SHA-256 in hex of the document's text."),
  given: optional(described(flag(), "Whether --openapi gave it. Otherwise the scenario names it.")),
});

const promises = mapping({
  kinds: described(
    choice(promiseChoices),
    "The promises that were broken. swaps: an accepted key is rejected, or the reverse.",
  ),
  tried: described(
    count(),
    "The number of promises of released endpoints that the client got a response with.",
  ),
  noticed: described(
    count(),
    "The number of promises that the client noticed, by an exit code other than 0.",
  ),
  runs: described(list(promise), "Every run with a broken promise."),
});

const hostName = word("api.example", /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/);

const result = {
  verdict: described(
    choice(certifyVerdicts),
    "passed: every run and every gate passed. failed: some run or gate failed. flaky: some run passed once and failed once. unusable: nothing can be certified, because the baseline fails or covers too little.",
  ),
  scenario: described(text(), "The name of the scenario, or its given file."),
  otherScenarios: optional(
    described(list(text()), "The other scenarios of sandboxes in the client's own processes."),
  ),
  scenarioDigest: described(
    sha256(),
    "SHA-256 in hex of the scenario as JSON with sorted members, without the document.",
  ),
  document: optional(described(documentShape, "The OpenAPI document whose operations the sandbox had.")),
  specification: described(version(), "The version of the API's specification."),
  sandbox: described(version(), "The version of svc-sandbox."),
  command: described(list(text()), "The client's program and its arguments, without keys."),
  intercept: optional(
    described(
      list(hostName),
      "The hosts whose requests were sent to the sandbox (`--intercept`): the client was tested with its own addresses.",
    ),
  ),
  seeds: described(list(count()), "The seeds of the runs with varied responses."),
  faults: described(list(fault()), "The tried faults, each in its own run."),
  startedAt: described(time(), "The real time when the first run started."),
  durationMs: described(count(), "The real duration of all runs, in milliseconds."),
  runs: described(list(run), "Every run, in the order of the plan."),
  promises: described(
    promises,
    "The runs with a broken promise of the specification; they do not count for the report.",
  ),
  retries: optional(described(list(retry), "The experiments with retries.")),
  notTried: described(
    list(notTried),
    "What shows nothing about the client: runs, promises and experiments that were not made, or that it made impossible.",
  ),
  gates: described(gates, "Requirements in addition to passing each run."),
  unmet: described(list(unmetShape), "The gates that failed."),
  report: described(reportShape, "Coverage and advice over all runs without a broken promise."),
};
const resultShape = mapping(result);
/** The outcome of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
export interface CertifyResult extends ValueOf<typeof resultShape> {}

/** The version of the certificate's format. It changes if a reader of this version could misread a new one. */
const certificateFormat = 1;

/** A certificate as a file: its JSON Schema and its checks derive from this. */
const certificateShape = inJsonOfAnyVersion(
  mapping({
    svc_sandbox_certificate: described(choice([certificateFormat]), "The version of this format."),
    ...result,
    conclusion: optional(
      described(text(), "The verdict as text; only --json prints it, as hint and failures."),
    ),
    hint: optional(described(text(), "The fix when the baseline fails or sends no request.")),
    failures: optional(described(list(failureShape), "One failure for each cause.")),
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
