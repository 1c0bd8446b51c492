import { commandLine } from "../report/plain-text.js";
import type { ReportLayout, Tone } from "../report/render/layout.js";
import { reportShape } from "../report/report-shape.js";
import { type OutcomeId, outcomeShape } from "../rules/outcomes.js";
import { redactEncoded, redactValue } from "../rules/redact.js";
import { inJsonOfAnyVersion, snakeCase } from "../rules/schema/json.js";
import { type JsonSchema, jsonSchemaDocument } from "../rules/schema/json-schema.js";
import type { Shape, ValueOf } from "../rules/schema/shape.js";
import * as s from "../rules/schema/shape.js";
import { sha256, time } from "../scenario/format/fields.js";
import { descriptionOf } from "../scenario/format/scenario-json-schema.js";
import type { ClientRun } from "./client-run.js";
import { type Check, type Judgment, judgmentShapes, type Reason, type ResultOfCheck } from "./judgment.js";

const version = () => s.text({ example: "1.0.0", pattern: /^[\w.+-]{1,100}$/ });
const growingOutcome = () => ({ ...outcomeShape(), isGrowing: true }) as Shape<OutcomeId>;

/** A check in JSON. */
const checkShape = s.mapping({
  name: s.described(s.text(), "What was tried, by its name in --only."),
  result: s.described(
    s.choice(["held", "failed", "not_judged", "allowed"]),
    "held: the client does what it should. not_judged: what was seen shows nothing. allowed: --allow names it.",
  ),
  key: s.optional(s.described(s.text(), "The key whose last request was rejected.")),
  why: s.optional(s.described(s.text(), "Why it is not judged.")),
  whatToDo: s.optional(s.described(s.text(), "What to change so that it is judged.")),
});

/** What certify has found out about a client. */
export interface Certification extends Judgment {
  readonly runs: number;
  /** `undefined` if not even the plain run ended. */
  readonly plain: ClientRun | undefined;
  /** Whether a signal ended it before its last run. */
  readonly isStopped: boolean;
  /** Why it cannot be judged, or not wholly. Default: it can. */
  readonly unusable?: Reason;
  /** The scenarios of the client's sandboxes. */
  readonly scenarios: readonly string[];
}

const verdicts = ["passed", "failed", "not_judged", "no_request", "stopped"] as const;

const result = {
  verdict: s.described(
    s.choice(verdicts),
    "failed: there is a problem, whatever else is not judged. not_judged: the plain run fails or covers too little, or a part of the runs shows nothing. stopped: a signal ended it, and it has only what runs showed before.",
  ),
  why: s.optional(s.described(s.text(), "Why it cannot be judged, or not wholly.")),
  whatToDo: s.optional(s.described(s.text(), "What to change so that it can.")),
  scenario: s.described(s.text(), "The name of the scenario, or its given file."),
  otherScenarios: s.optional(
    s.described(s.list(s.text()), "The other scenarios of sandboxes in the client's own processes."),
  ),
  assumptions: s.optional(
    s.described(s.list(s.text()), "The assumptions that the scenario sets, and that would vary otherwise."),
  ),
  scenarioDigest: s.described(sha256(), "SHA-256 in hex of the scenario as JSON with sorted members."),
  specification: s.described(version(), "The version of the API's specification."),
  sandbox: s.described(version(), "The version of svc-sandbox."),
  command: s.described(s.list(s.text()), "The client's program and its arguments, without keys."),
  only: s.optional(s.described(s.list(s.text()), "The only runs, as --only names them. Default: all.")),
  seeds: s.described(s.list(s.count()), "The seeds of the runs with varied responses."),
  allow: s.described(
    s.list(growingOutcome()),
    "The outcomes whose wrong answer the client survives on purpose, and the faults that it does not survive on purpose.",
  ),
  startedAt: s.described(time(), "The real time when the first run started."),
  durationMs: s.described(s.count(), "The real duration of all runs, in milliseconds."),
  runs: s.described(s.count(), "How often the command ran."),
  problems: s.described(s.list(judgmentShapes.finding), "What breaks the client, the most serious first."),
  checks: s.described(s.list(checkShape), "Everything that was tried."),
  notes: s.described(s.list(judgmentShapes.note), "What limits the checks."),
  report: s.described(reportShape, "Coverage and advice of the plain run."),
};
const resultShape = s.mapping(result);
/** The result of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
export interface CertifyResult extends Omit<ValueOf<typeof resultShape>, "checks"> {
  readonly checks: readonly Check[];
}

/** The version of the certificate's format. It changes if a reader of this version could misread a new one. */
const certificateFormat = 1;

/** A certificate as a file: its JSON Schema and its checks derive from this. */
const certificateShape = inJsonOfAnyVersion(
  s.mapping({
    svc_sandbox_certificate: s.described(s.choice([certificateFormat]), "The version of this format."),
    ...result,
  }),
);

export function certificateJsonSchema(): JsonSchema {
  return jsonSchemaDocument(certificateShape, descriptionOf);
}

/** Returns the result of a certification, with what else its certificate states; `undefined` if not even the plain run ended. */
export function certifyResultOf(
  certification: Certification,
  about: Pick<
    CertifyResult,
    | "scenario"
    | "assumptions"
    | "scenarioDigest"
    | "specification"
    | "sandbox"
    | "command"
    | "only"
    | "seeds"
    | "startedAt"
    | "durationMs"
  > & { readonly allow: readonly string[] },
): CertifyResult | undefined {
  const { checks, problems, notes, runs, plain, unusable, scenarios } = certification;
  if (plain === undefined) return undefined;
  const others = scenarios.filter((name) => name !== about.scenario);
  const verdict =
    plain.report.requests === 0 && plain.result === "passed" ? "no_request" : verdictOf(certification);
  const facts = {
    ...about,
    verdict,
    ...unusable,
    ...(others.length > 0 && { otherScenarios: others }),
    runs,
    problems,
    checks,
    notes,
    report: plain.report,
  };
  return redactValue(facts as CertifyResult, redactEncoded);
}

export function verdictOf({
  checks,
  problems,
  unusable,
  isStopped,
}: Omit<Certification, "plain">): CertifyResult["verdict"] {
  if (isStopped) return "stopped";
  if (problems.length > 0 || checks.some(({ result }) => result.kind === "failed")) return "failed";
  const isJudged = (group: Check["group"]) => {
    const ofGroup = checks.filter((check) => check.group === group);
    return ofGroup.length === 0 || ofGroup.some(({ result }) => result.kind !== "not_judged");
  };
  // That no fault or resend is judged is listed: a runner that repeats failing tests hides what comes once.
  const areJudged = isJudged("varied") && isJudged("answer");
  return unusable === undefined && areJudged ? "passed" : "not_judged";
}

/** The certificate as JSON, with members in snake_case. */
export function certificateJson(certified: CertifyResult): object {
  const checks = certified.checks.map(({ name, result: { kind, ...more } }) => {
    const facts = "reason" in more ? more.reason : more;
    return { name, result: kind, ...facts };
  });
  const result = snakeCase({ ...certified, checks }) as object;
  const facts = { svc_sandbox_certificate: certificateFormat, ...result };
  // Removes members that are `undefined`.
  return JSON.parse(JSON.stringify(facts));
}

/** The words of what a check, a verdict and a run have as `kind`, for people. */
export const resultWords = {
  held: "held",
  passed: "passed",
  failed: "failed",
  noticed: "noticed",
  unnoticed: "unnoticed",
  allowed: "allowed",
  not_judged: "not judged",
  timed_out: "timed out",
  no_request: "no request",
  stopped: "stopped",
} as const;

const resultTones = {
  held: "good",
  failed: "bad",
  not_judged: "quiet",
  allowed: "quiet",
} as const satisfies Readonly<Record<ResultOfCheck["kind"], Tone>>;

/** As in " (only resend.401; allowed fault.status)"; empty if every run was made, and nothing is allowed. */
export function limitsOf({ only, allow }: Pick<CertifyResult, "only" | "allow">): string {
  const limits = [
    ...(only === undefined ? [] : [`only ${only.join(", ")}`]),
    ...(allow.length === 0 ? [] : [`allowed ${allow.join(", ")}`]),
  ];
  return limits.length === 0 ? "" : ` (${limits.join("; ")})`;
}

/** The certificate's layout, for its formats. */
export function certificateLayout(certified: CertifyResult): ReportLayout {
  const { verdict, problems, checks, scenario, why = "" } = certified;
  const rows = checks.map(({ name, result }) => {
    const ofCheck = problems.filter(({ runs, ...problem }) => problem.name === name || runs.includes(name));
    // The sentence is about one run: the others may have another variant, or another fault.
    const texts = ofCheck.map((problem) => {
      const source = problem.name === name ? "" : `As ${problem.name}: `;
      return `${source}${problem.sentence}. ${problem.whatToDo}`;
    });
    const reason = result.kind === "not_judged" ? [`${result.reason.why} ${result.reason.whatToDo}`] : [];
    return {
      cells: [name, { text: resultWords[result.kind], tone: resultTones[result.kind] }],
      details: [texts.length > 0 ? texts : reason],
    };
  });
  const tone = verdict === "passed" ? "good" : verdict === "stopped" ? "broken" : "bad";
  return {
    kind: "certificate",
    subject: scenario,
    title: `Certificate of ${commandLine(certified.command)}`,
    sections: [{ title: "Checks", columns: ["what", "result", "why"], rows }],
    notes: [],
    conclusion: { text: `${resultWords[verdict]}${limitsOf(certified)}${why && `: ${why}`}`, tone },
    failures: [],
    json: certificateJson(certified),
  };
}
