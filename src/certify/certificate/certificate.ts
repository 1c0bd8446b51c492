import { commandLine, pluralize } from "../../report/plain-text.js";
import type { ReportLayout, TableRow, Tone } from "../../report/render/layout.js";
import { reportShape } from "../../report/report-shape.js";
import { type OutcomeId, outcomeShape } from "../../rules/outcomes.js";
import { mapTexts, redactEncoded } from "../../rules/redact.js";
import { sha256, time } from "../../scenario/format/fields.js";
import { shapeDescription } from "../../scenario/format/scenario-json-schema.js";
import { inJsonOfAnyVersion, snakeCase } from "../../schema/json.js";
import { type JsonSchema, jsonSchemaDocument } from "../../schema/json-schema.js";
import type { Shape, ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import { type Check, nameOf } from "../checks/check.js";
import {
  type Finding,
  type JudgedCheck,
  type Judgment,
  judgmentShapes,
  type Reason,
  type ResultOfCheck,
} from "../checks/judgment.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { againLine, type Program } from "./again-line.js";

/** The version of the certificate's format. It changes if a reader of this version could misread a new one. */
const certificateFormat = 1;

/** Each member with a version has its own description. */
const version = () => s.text({ example: "1.0.0", pattern: /^[\w.+-]{1,100}$/ });
/** An outcome, which a certificate of a newer version may have and this one does not know. */
const growingOutcome = () => ({ ...outcomeShape(), isGrowing: true }) as Shape<OutcomeId>;

/** A check as JSON has it: the members of its result are its own. */
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

/** What certify has found out about a client: what {@link certify} returns. A certificate adds what the call was. */
export interface Certification extends Judgment {
  /** How many runs were made. */
  readonly runs: number;
  /** `undefined` if not even the plain run ended. */
  readonly plain: ClientRun | undefined;
  /** Whether a signal ended certify before its last run. */
  readonly isStopped: boolean;
  /** Why the client cannot be judged, or not wholly. Default: it can. */
  readonly unusable?: Reason;
  /** The scenarios of the client's sandboxes. */
  readonly scenarios: readonly string[];
}

/** The results of a whole certificate; a check has its own. */
const verdicts = ["passed", "failed", "not_judged", "no_request", "stopped"] as const;

/** The members of a certificate, with their descriptions in its JSON Schema. */
const resultFields = {
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
  judged: s.described(
    s.count(),
    "The number of checks that show what the client does, or that --allow names.",
  ),
  notJudged: s.described(s.count(), "The number of the other checks, of which no run shows anything."),
  problems: s.described(s.list(judgmentShapes.finding), "What breaks the client, the most serious first."),
  checks: s.described(s.list(checkShape), "Everything that was tried."),
  notes: s.described(s.list(judgmentShapes.note), "What limits the checks."),
  report: s.described(reportShape, "Coverage and advice of the plain run."),
};
const resultShape = s.mapping(resultFields);

/** The result of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
export interface CertifyResult extends Omit<ValueOf<typeof resultShape>, "checks"> {
  readonly checks: readonly JudgedCheck[];
}

/** A certificate as a file: its JSON Schema and its checks derive from this. */
const certificateShape = inJsonOfAnyVersion(
  s.mapping({
    svc_sandbox_certificate: s.described(s.choice([certificateFormat]), "The version of this format."),
    ...resultFields,
  }),
);

export function certificateJsonSchema(): JsonSchema {
  return jsonSchemaDocument(certificateShape, shapeDescription);
}

/** What a certificate states about its call, besides what the runs show. */
type AboutCall = Pick<
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
> & { readonly allow: readonly string[] };

/** Returns the result of a certification, with what else its certificate states; `undefined` if not even the plain run ended. */
export function certifyResultOf(certification: Certification, about: AboutCall): CertifyResult | undefined {
  const { checks, problems, notes, runs, plain, unusable, scenarios } = certification;
  if (plain === undefined) return undefined;

  const others = scenarios.filter((name) => name !== about.scenario);
  let verdict = verdictOf(certification);
  // A problem comes first: a command that sends nothing may still print a key.
  const hasNoRequest = plain.report.requests === 0 && plain.result === "passed";
  if (hasNoRequest && verdict !== "failed") verdict = "no_request";
  const facts = {
    ...about,
    verdict,
    ...unusable,
    ...(others.length > 0 && { otherScenarios: others }),
    runs,
    ...checkCounts(checks),
    problems,
    checks,
    notes,
    report: plain.report,
  };
  return mapTexts(facts as CertifyResult, redactEncoded);
}

/** The verdict by what was judged, whether or not the plain run sent a request. */
export function verdictOf({
  checks,
  problems,
  unusable,
  isStopped,
}: Omit<Certification, "plain">): CertifyResult["verdict"] {
  if (isStopped) return "stopped";
  if (problems.length > 0 || checks.some(({ result }) => result.kind === "failed")) return "failed";
  const isJudged = (kind: Check["kind"]) => {
    const ofGroup = checks.filter(({ check }) => check.kind === kind);
    return ofGroup.length === 0 || ofGroup.some(({ result }) => result.kind !== "not_judged");
  };
  // If no fault or no resend is judged, the certificate lists that, and passes: a runner that repeats failing tests hides what comes once.
  const areJudged = isJudged("varied") && isJudged("answer");
  return unusable === undefined && areJudged ? "passed" : "not_judged";
}

/** How many checks are judged, and how many are not. */
export function checkCounts(checks: readonly JudgedCheck[]): Pick<CertifyResult, "judged" | "notJudged"> {
  const open = checks.filter(({ result }) => result.kind === "not_judged");
  return { judged: checks.length - open.length, notJudged: open.length };
}

/** The certificate as JSON, with members in snake_case. */
export function certificateJson(certified: CertifyResult): object {
  // The reason of a check that is not judged, or its key, become its own members.
  const checks = certified.checks.map(({ check, result }) => {
    const { kind, ...more } = result;
    const facts = "reason" in more ? more.reason : more;
    return { name: nameOf(check), result: kind, ...facts };
  });

  const members = snakeCase({ ...certified, checks }) as object;
  const facts = { svc_sandbox_certificate: certificateFormat, ...members };
  // Removes members that are `undefined`.
  return JSON.parse(JSON.stringify(facts));
}

/** The words for people of the result of a check or a run, and of a verdict. */
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

/** How a renderer colors the result of a check. */
const resultTones = {
  held: "good",
  failed: "bad",
  not_judged: "quiet",
  allowed: "quiet",
} as const satisfies Readonly<Record<ResultOfCheck["kind"], Tone>>;

/** The first line of a certificate, without its full stop: the verdict, and how much was judged. */
export function conclusionLine(certified: CertifyResult): string {
  const { verdict, checks, problems, judged, notJudged, why } = certified;
  const limits = limitWords(certified);
  const problemCount = pluralize(problems.length + failedWithoutProblem(checks, problems).length, "problem");
  const open = notJudged === 0 ? "" : `, ${notJudged} of ${judged + notJudged} checks not judged`;
  switch (verdict) {
    case "passed":
      if (notJudged === 0) return `Passed${limits}: ${pluralize(judged, "check")}`;
      return `Passed${limits}: ${judged} of ${judged + notJudged} checks, ${notJudged} not judged`;
    case "failed":
      return `Failed${limits}: ${problemCount}${open}`;
    case "stopped":
      return `Stopped${limits}: ${problemCount} in the runs that were made${open}`;
    case "no_request":
      return `Not judged${limits}: the command sent no request`;
    case "not_judged":
      return `Not judged${limits}: ${why ?? "a part of the runs shows nothing"}`;
    default:
      return verdict satisfies never;
  }
}

/** The names of checks that failed, and that no problem is about. */
export function failedWithoutProblem(checks: readonly JudgedCheck[], problems: readonly Finding[]): string[] {
  const withProblem = new Set<string>();
  for (const { name, runs } of problems) {
    withProblem.add(name);
    for (const run of runs) withProblem.add(run);
  }

  const names: string[] = [];
  for (const { check, result } of checks) {
    const name = nameOf(check);
    if (result.kind === "failed" && !withProblem.has(name)) names.push(name);
  }
  return names;
}

/** As in " (only resend.401; allowed fault.status)"; empty if every run was made, and nothing is allowed. */
function limitWords({ only, allow }: Pick<CertifyResult, "only" | "allow">): string {
  const limits: string[] = [];
  if (only !== undefined) limits.push(`only ${only.join(", ")}`);
  if (allow.length > 0) limits.push(`allowed ${allow.join(", ")}`);
  return limits.length === 0 ? "" : ` (${limits.join("; ")})`;
}

const checkColumns = ["what", "result", "why", "fix", "its last line", "again"];

/** The certificate as JSON and JUnit lay it out; `certificateText` prints it for people. */
export function certificateLayout(certified: CertifyResult, program: Program = {}): ReportLayout {
  const { verdict, notes, scenario, command, durationMs } = certified;
  const checkRows = certified.checks.map((judged) => checkRow(judged, certified, program));
  const noteRows = notes.map(({ what, ...reason }): TableRow => {
    const text = reasonSentence(reason);
    return { cells: [what, { text: "not judged", tone: "quiet" }], details: [[text]], message: text };
  });

  let tone: Tone = "bad";
  if (verdict === "passed") tone = "good";
  if (verdict === "stopped") tone = "broken";
  return {
    kind: "certificate",
    subject: scenario,
    title: `Certificate of ${commandLine(command)}`,
    sections: [
      { title: "Checks", columns: checkColumns, rows: checkRows },
      { title: "Notes", columns: ["what", "result", "why"], rows: noteRows },
    ],
    notes: [],
    conclusion: { text: conclusionLine(certified), tone },
    failures: [],
    durationMs,
    json: certificateJson(certified),
  };
}

/** The row of a check: with the details of the problems that it is part of, or with the reason why it is not judged. */
function checkRow(
  { check, result }: JudgedCheck,
  { problems, command }: CertifyResult,
  program: Program,
): TableRow {
  const name = nameOf(check);
  const text = resultWords[result.kind];
  const cells = [name, { text, tone: resultTones[result.kind] }];
  const problemsOfCheck = problems.filter((problem) => problem.name === name || problem.runs.includes(name));
  const [first] = problemsOfCheck;
  if (first !== undefined) {
    const details = problemDetails(problemsOfCheck, name, command, program);
    return { cells, details, message: problemSentence(first, name) };
  }
  const reason = result.kind === "not_judged" ? [reasonSentence(result.reason)] : [];
  return { cells, details: [reason], message: reason[0] };
}

const reasonSentence = ({ why, whatToDo }: Reason) => `${why}. ${whatToDo}`;

/** The sentence of a problem at one of its checks. It is about one run: the others may have another variant, or another fault. */
const problemSentence = ({ name, sentence }: Finding, check: string) =>
  name === check ? sentence : `As ${name}: ${sentence}`;

/** The columns `why`, `fix`, `its last line` and `again` of the problems that a check is part of. */
function problemDetails(
  problems: readonly Finding[],
  check: string,
  command: readonly string[],
  program: Program,
): string[][] {
  const sentences: string[] = [];
  const fixes: string[] = [];
  const lastLines: string[] = [];
  const commands: string[] = [];
  for (const problem of problems) {
    sentences.push(`${problemSentence(problem, check)}.`);
    fixes.push(problem.whatToDo);
    if (problem.lastLine !== undefined) lastLines.push(problem.lastLine);
    commands.push(againLine(problem, command, program));
  }
  return [sentences, fixes, lastLines, commands];
}
