import { failureShape, unmetShape } from "../report/brief.js";
import { reportShape } from "../report/report-shape.js";
import { sha256, time } from "../scenario/format/fields.js";
import { descriptionOf } from "../scenario/format/json-schema.js";
import { assumptionsSchema } from "../scenario/format/steps.js";
import { adviceLevels } from "../spec/advice.js";
import { type Assumptions, profiles } from "../spec/assumptions.js";
import { faultPathIds, type PathId, pathIdShape } from "../spec/outcomes.js";
import { escapeControls, printable, redactEncoded, redactValue } from "../spec/redact.js";
import { shapeProblems } from "../spec/schema/check.js";
import { camelCase, inJsonOfAnyVersion, parsedJson, snakeCase } from "../spec/schema/json.js";
import { describedFields, type JsonSchema, jsonSchemaDocument } from "../spec/schema/json-schema.js";
import {
  text as anyText,
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
  pathText,
  type Shape,
  type ValueOf,
} from "../spec/schema/shape.js";
import descriptions from "./descriptions.json" with { type: "json" };

// `descriptions.json` describes each member for the JSON Schema.

// A certificate may be anyone's: no text of it starts a line of a log.
const text = () =>
  anyText({
    noun: "a line without control characters",
    isAllowed: (given) => escapeControls(given) === given,
  });
const word = (example: string, pattern: RegExp) => anyText({ noun: "a plain word", example, pattern });
const version = () => word("1.0.0", /^[\w.+-]{1,100}$/);

/** `unusable`: nothing can be concluded about the client, because its baseline fails or it covers too little of the API. */
export type CertifyVerdict = (typeof certifyVerdicts)[number];
export const certifyVerdicts = ["passed", "failed", "flaky", "unusable"] as const;

export type RunOutcome = (typeof runOutcomes)[number];
export const runOutcomes = ["passed", "failed", "flaky", "timed_out", "not_run"] as const;

export const promiseChoices = ["all", "swaps", "none"] as const;
const promiseKinds = ["swap", "other"] as const;

const pathId = () => ({ ...pathIdShape(), isGrowing: true }) as Shape<PathId>;
const fault = () => growingChoice(faultPathIds);

const point = mapping({ row: text(), variant: text(), status: count() });
/** A variant of a row of the variation table, on the responses of one status. */
export interface CausePoint extends ValueOf<typeof point> {}

const cause = mapping({
  /** For example, `fails when a 401 has charset=utf-8 in its Content-Type`. */
  sentence: text(),
  whatToDo: list(text()),
  points: list(point),
  pathId: optional(pathId()),
  fault: optional(fault()),
});
export interface RunCause extends ValueOf<typeof cause> {}

const run = mapping({
  /** For example, `varied 7` or `fault.reset`; unique. */
  name: text(),
  profile: choice(profiles),
  seed: count(),
  fault: optional(fault()),
  outcome: choice(runOutcomes),
  code: orNull(number()),
  durationMs: count(),
  requests: count(),
  percent: count({ most: 100 }),
  lastRequest: optional(mapping({ id: text(), pathId: pathId(), status: count() })),
  cause: optional(cause),
});
/** One run of the command in a fresh sandbox. */
export interface Run extends ValueOf<typeof run> {}

const promise = mapping({
  /** For example, `200.test:scopes-empty`. */
  id: text(),
  pathId: pathId(),
  kind: choice(promiseKinds),
  sentence: text(),
  loss: text(),
  outcome: choice(["noticed", "not_noticed", "not_tried", "not_run"]),
  /** The exit code; `null` for a run that was not made or was ended, which does not count as noticed. */
  code: orNull(number()),
  durationMs: count(),
});
/** One run of the command with a broken promise. */
export interface PromiseRun extends ValueOf<typeof promise> {}

const retry = mapping({
  after: choice([
    "401",
    "403",
    "429 with Retry-After",
    "429 without Retry-After",
    "503 with Retry-After",
    "outage",
  ]),
  outcome: choice(["passed", "failed", "not_tried"]),
  sentence: text(),
  whatToDo: optional(text()),
});
export interface RetryResult extends ValueOf<typeof retry> {}

export const openKinds = [
  "experiment",
  "run",
  "promise",
  "broken_promises",
  "other_promises",
  "faults",
] as const;

/** A run, promise or experiment that shows nothing about the client, or what no run was asked for. */
const notTried = mapping({ kind: choice(openKinds), what: text(), why: text(), whatToDo: text() });
export interface NotTried extends ValueOf<typeof notTried> {}

const gates = mapping({
  failOn: choice(adviceLevels),
  minCoverage: count({ most: 100 }),
  /** Percentage of the tried promises. Default: the client must notice each swap. */
  minNoticed: optional(count({ most: 100 })),
});
export interface Gates extends ValueOf<typeof gates> {}

const result = {
  verdict: choice(certifyVerdicts),
  scenario: text(),
  /** SHA-256 in hex of its content, which does not depend on the file's path. */
  scenarioDigest: sha256(),
  /** The OpenAPI document of the scenario, or of `--openapi`. */
  document: optional(
    mapping({
      title: text(),
      version: text(),
      file: optional(text()),
      digest: sha256(),
      given: optional(flag()),
    }),
  ),
  specification: version(),
  sandbox: version(),
  // A script may have several lines.
  command: list(anyText({ noun: "a word of a command", isAllowed: (given) => printable(given) === given })),
  intercept: optional(list(word("api.example", /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/))),
  seeds: list(count()),
  faults: list(fault()),
  like: optional(assumptionsSchema as Shape as Shape<Partial<Assumptions>>),
  /** ISO 8601 in UTC, on the real clock. */
  startedAt: time(),
  durationMs: count(),
  runs: list(run),
  /** The runs with a broken promise. The client notices it by an exit code other than 0. */
  promises: mapping({
    kinds: choice(promiseChoices),
    tried: count(),
    noticed: count(),
    runs: list(promise),
  }),
  retries: optional(list(retry)),
  notTried: list(notTried),
  gates,
  unmet: list(unmetShape),
  /** The merged reports of all runs without a broken promise. */
  report: reportShape,
};
const resultShape = mapping(result);
/** The outcome of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
export interface CertifyResult extends ValueOf<typeof resultShape> {}

/** The version of the certificate's format. It changes if a reader of this version could misread a new one. */
const certificateFormat = 1;

/** A certificate as a file: its JSON Schema and its checks derive from this. */
const certificateShape = inJsonOfAnyVersion(
  mapping({
    svc_sandbox_certificate: choice([certificateFormat]),
    ...result,
    conclusion: optional(
      described(text(), "The verdict as text; only --json prints it, as hint and failures."),
    ),
    hint: optional(described(text(), "The fix when the baseline fails or sends no request.")),
    failures: optional(described(list(failureShape), "One failure for each cause.")),
  }),
);

/** A certified result, and its file. */
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

/** Reads the text of a certificate's file; returns why it is not a certificate of this format, as a sentence. */
export function readCertificate(text: string): Certificate | { readonly problem: string } {
  const json = parsedJson(text.replace(/^\uFEFF/, ""));
  if (json === undefined) return { problem: "It is not valid JSON, or not a complete file." };
  const { svc_sandbox_certificate: format, sandbox } = (json ?? {}) as Record<string, unknown>;
  if (format === undefined) {
    return {
      problem: "It is not a certificate: svc-sandbox certify --certificate writes one to a .json file.",
    };
  }
  if (Number.isSafeInteger(format) && format !== certificateFormat) {
    const problem = `It has format ${format}, of svc-sandbox ${JSON.stringify(sandbox)}; this one reads format ${certificateFormat}. Verify it with that version.`;
    return { problem };
  }
  const [broken] = shapeProblems(certificateShape, json);
  if (broken !== undefined) {
    return {
      problem: escapeControls(
        redactEncoded(`It is not a certificate: at ${pathText(broken.path)}, ${broken.message}.`),
      ),
    };
  }
  const { svc_sandbox_certificate: _format, like, ...facts } = json as Record<string, unknown>;
  const result = { ...(camelCase(facts) as object), ...(like !== undefined && { like }) } as CertifyResult;
  return { result, json: json as object };
}

export function certificateJsonSchema(): JsonSchema {
  const described = describedFields(certificateShape, descriptions);
  return jsonSchemaDocument(certificateShape, (shape) => described.get(shape) ?? descriptionOf(shape));
}
