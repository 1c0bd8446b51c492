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
import { descriptionOf } from "../scenario/format/json-schema.js";
import type { ClientRun, Reason } from "./run.js";

const version = () => s.text({ example: "1.0.0", pattern: /^[\w.+-]{1,100}$/ });
const growingOutcome = () => ({ ...outcomeShape(), isGrowing: true }) as Shape<OutcomeId>;
const resultOfCheck = s.choice(["held", "failed", "not_judged", "allowed"]);

const checkShape = s.mapping({
  name: s.described(s.text(), "What was tried, by its name in --only."),
  result: s.described(
    resultOfCheck,
    "held: the client does what it should. not_judged: what was seen shows nothing. allowed: --allow names it.",
  ),
  why: s.optional(s.described(s.text(), "Why it is not judged.")),
  whatToDo: s.optional(s.described(s.text(), "What to change so that it is judged.")),
});
export interface Judgment extends ValueOf<typeof checkShape> {}

/** What certify has found out about a client. */
export interface Certification {
  readonly checks: readonly Judgment[];
  /** Causes first. */
  readonly problems: readonly Problem[];
  readonly runs: number;
  /** `undefined` if not even the plain run ended. */
  readonly plain: ClientRun | undefined;
  /** Why nothing can be judged. Default: it can. */
  readonly unusable?: Reason;
  /** The scenarios of the client's sandboxes. */
  readonly scenarios: readonly string[];
}

const point = s.mapping({
  row: s.described(s.text(), "The row of the table of variations."),
  variant: s.described(s.text(), "The variant of that row."),
  status: s.described(s.count(), "The status of the varied responses."),
});

const problemShape = s.mapping({
  name: s.described(s.text(), "The first run that shows it, by its name in --only."),
  sentence: s.described(s.text(), "What was seen."),
  whatToDo: s.described(s.text(), "How to fix the client or its tests."),
  row: s.optional(s.described(s.text(), "The row of varied responses that breaks the client alone.")),
  points: s.optional(s.described(s.list(point), "The variants of the row that failed.")),
  runs: s.described(s.list(s.text()), "The runs that show it."),
  again: s.described(s.list(s.text()), "The command of svc-sandbox that shows it again, with its flags."),
  lastLine: s.optional(
    s.described(s.text(), "The last line of the command that shows an error, without keys."),
  ),
});
export interface Problem extends ValueOf<typeof problemShape> {}

const verdicts = ["passed", "failed", "not_judged", "no_request"] as const;

const result = {
  verdict: s.described(
    s.choice(verdicts),
    "not_judged: the plain run fails or covers too little, or a part of the runs shows nothing.",
  ),
  why: s.optional(s.described(s.text(), "Why nothing can be judged.")),
  whatToDo: s.optional(s.described(s.text(), "What to change so that it can.")),
  scenario: s.described(s.text(), "The name of the scenario, or its given file."),
  otherScenarios: s.optional(
    s.described(s.list(s.text()), "The other scenarios of sandboxes in the client's own processes."),
  ),
  scenarioDigest: s.described(sha256(), "SHA-256 in hex of the scenario as JSON with sorted members."),
  specification: s.described(version(), "The version of the API's specification."),
  sandbox: s.described(version(), "The version of svc-sandbox."),
  command: s.described(s.list(s.text()), "The client's program and its arguments, without keys."),
  seeds: s.described(s.list(s.count()), "The seeds of the runs with varied responses."),
  allow: s.described(
    s.list(growingOutcome()),
    "The outcomes whose wrong answer the client survives on purpose.",
  ),
  startedAt: s.described(time(), "The real time when the first run started."),
  durationMs: s.described(s.count(), "The real duration of all runs, in milliseconds."),
  runs: s.described(s.count(), "How often the command ran."),
  problems: s.described(s.list(problemShape), "What breaks the client, causes first."),
  checks: s.described(s.list(checkShape), "Everything that was tried."),
  report: s.described(reportShape, "Coverage and advice of the plain run."),
};
const resultShape = s.mapping(result);
/** The result of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
export interface CertifyResult extends ValueOf<typeof resultShape> {}

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
export function resultOf(
  { checks, problems, runs, plain, unusable, scenarios }: Certification,
  about: Pick<
    CertifyResult,
    | "scenario"
    | "scenarioDigest"
    | "specification"
    | "sandbox"
    | "command"
    | "seeds"
    | "startedAt"
    | "durationMs"
  > & { readonly allow: readonly string[] },
): CertifyResult | undefined {
  if (plain === undefined) return undefined;
  const others = scenarios.filter((name) => name !== about.scenario);
  const verdict =
    plain.report.requests === 0 && plain.result === "passed"
      ? "no_request"
      : verdictOf(checks, problems, unusable !== undefined);
  const facts = {
    ...about,
    verdict,
    ...unusable,
    ...(others.length > 0 && { otherScenarios: others }),
    runs,
    problems,
    checks,
    report: plain.report,
  };
  return redactValue(facts as CertifyResult, redactEncoded);
}

/** The check that is not judged if a failure that comes only once does not show. */
export const onlyOnce = "what fails only once";

/** The group of a check, as in `--only`. */
export const groupOf = (name: string) => name.split(/[. ]/)[0] ?? "";

function verdictOf(
  checks: readonly Judgment[],
  problems: readonly Problem[],
  isUnusable: boolean,
): CertifyResult["verdict"] {
  if (isUnusable) return "not_judged";
  if (problems.length > 0) return "failed";
  const isJudged = (group: string) => {
    const ofGroup = checks.filter(({ name }) => groupOf(name) === group && !/ /.test(name));
    return ofGroup.length === 0 || ofGroup.some(({ result }) => result !== "not_judged");
  };
  const isWhole = checks.every(({ why }) => why !== "the run was not made");
  // A runner that repeats failing tests hides faults and resends, which is listed.
  const groups = checks.some(({ name }) => name === onlyOnce)
    ? ["varied", "answer"]
    : ["varied", "answer", "fault"];
  return isWhole && groups.every(isJudged) ? "passed" : "not_judged";
}

/** The certificate as JSON, with members in snake_case. */
export function certificateJson(certified: CertifyResult): object {
  const facts = { svc_sandbox_certificate: certificateFormat, ...(snakeCase(certified) as object) };
  // Removes members that are `undefined`.
  return JSON.parse(JSON.stringify(facts));
}

const resultTones: Readonly<Record<Judgment["result"], Tone>> = {
  held: "good",
  failed: "bad",
  not_judged: "quiet",
  allowed: "quiet",
};

/** The certificate's layout, for its formats. */
export function certificateLayout(certified: CertifyResult): ReportLayout {
  const { verdict, problems, checks, scenario, why = "" } = certified;
  const rows = checks.map(({ name, result, why = "", whatToDo = "" }) => {
    const ofCheck = problems.filter(({ runs, ...problem }) => problem.name === name || runs.includes(name));
    const texts = ofCheck.map((problem) => `${problem.sentence}. ${problem.whatToDo}`);
    const details = texts.length > 0 ? texts : [`${why} ${whatToDo}`.trim()].filter(Boolean);
    return {
      cells: [name, { text: result.replace("_", " "), tone: resultTones[result] }],
      details: [details],
    };
  });
  const tone = verdict === "passed" ? "good" : "bad";
  return {
    kind: "certificate",
    subject: scenario,
    title: `Certificate of ${commandLine(certified.command)}`,
    sections: [{ title: "Checks", columns: ["what", "result", "why"], rows }],
    notes: [],
    conclusion: { text: `${verdict.replace("_", " ")}${why && `: ${why}`}`, tone },
    failures: [],
    json: certificateJson(certified),
  };
}
