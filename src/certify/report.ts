import { commandLine, pluralize, runAgainWith } from "../report/plain-text.js";
import type { ReportLayout, Tone } from "../report/render/layout.js";
import { reportShape } from "../report/report-shape.js";
import { type PathId, pathIdShape } from "../rules/outcomes.js";
import { redactEncoded, redactValue } from "../rules/redact.js";
import { inJsonOfAnyVersion, snakeCase } from "../rules/schema/json.js";
import { type JsonSchema, jsonSchemaDocument } from "../rules/schema/json-schema.js";
import type { Shape, ValueOf } from "../rules/schema/shape.js";
import * as s from "../rules/schema/shape.js";
import { listed } from "../rules/schema/words.js";
import { escapeControls } from "../rules/terminal-text.js";
import { sha256, time } from "../scenario/format/fields.js";
import { descriptionOf } from "../scenario/format/json-schema.js";
import type { ClientRun, Reason } from "./run.js";

const version = () => s.text({ example: "1.0.0", pattern: /^[\w.+-]{1,100}$/ });
const pathId = () => ({ ...pathIdShape(), isGrowing: true }) as Shape<PathId>;
const outcomeOfCheck = s.choice(["held", "failed", "not_judged", "allowed"]);

const checkShape = s.mapping({
  name: s.described(s.text(), "What was tried, by its name in --only."),
  outcome: s.described(
    outcomeOfCheck,
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
  allow: s.described(s.list(pathId()), "The paths whose wrong answer the client survives on purpose."),
  startedAt: s.described(time(), "The real time when the first run started."),
  durationMs: s.described(s.count(), "The real duration of all runs, in milliseconds."),
  runs: s.described(s.count(), "How often the command ran."),
  problems: s.described(s.list(problemShape), "What breaks the client, causes first."),
  checks: s.described(s.list(checkShape), "Everything that was tried."),
  report: s.described(reportShape, "Coverage and advice of the plain run."),
};
const resultShape = s.mapping(result);
/** The outcome of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
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
    plain.report.requests === 0 && plain.outcome === "passed"
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

const groupOf = (name: string) => name.split(/[. ]/)[0] ?? "";

function verdictOf(
  checks: readonly Judgment[],
  problems: readonly Problem[],
  isUnusable: boolean,
): CertifyResult["verdict"] {
  if (isUnusable) return "not_judged";
  if (problems.length > 0) return "failed";
  const isJudged = (group: string) => {
    const ofGroup = checks.filter(({ name }) => groupOf(name) === group && !/ /.test(name));
    return ofGroup.length === 0 || ofGroup.some(({ outcome }) => outcome !== "not_judged");
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

/** How the user starts svc-sandbox, with the scenario if it was given. */
export interface Program {
  readonly program?: string;
  readonly scenario?: string | undefined;
}

const width = 100;
const maxOutputLines = 20;

/** Renders a result on one screen: causes first, then what held and what was not judged. */
export function certificateText(
  certified: CertifyResult,
  program: Program = {},
  bad: (text: string) => string = (text) => text,
): string {
  const { verdict, problems, checks, why, whatToDo, runs, command, durationMs, allow } = certified;
  const count = `${pluralize(runs, "run")} of \`${commandLine(command)}\`, ${Math.round(durationMs / 1000)} s`;
  const conclusion = {
    passed: "Passed.",
    failed: `Failed: ${pluralize(problems.length, "problem")}.`,
    not_judged: `Not judged: ${why ?? "a part of the runs shows nothing"}.`,
    no_request: "Not judged: the command sent no request.",
  }[verdict];
  const lines = [
    `${verdict === "failed" ? bad(conclusion) : conclusion}  ${count}`,
    ...(whatToDo === undefined ? [] : [`Fix: ${whatToDo}`]),
    ...shownProblems(certified, program),
    ...listLine("Held", heldWords(checks)),
    ...listLine(
      "Allowed",
      allow.map((pathId) => `wrong answers on ${pathId}`),
    ),
    ...notJudgedLines(checks),
  ];
  return `${lines.map(escapeControls).join("\n")}\n`;
}

/** The most lines of problems on a screen; the file of `--report` has all. */
const maxLines = 30;

function shownProblems(certified: CertifyResult, program: Program): string[] {
  const { problems } = certified;
  const lines: string[] = [];
  let count = 0;
  for (const [at, problem] of problems.entries()) {
    const own = problemLines(problem, at + 1, certified, program);
    count += own.reduce((sum, line) => sum + Math.ceil(line.length / width), 0);
    if (at > 0 && count > maxLines) {
      const left = pluralize(problems.length - at, "other problem");
      return [...lines, `… and ${left}: --report client.json writes all of them into a file.`];
    }
    lines.push(...own);
  }
  return lines;
}

function problemLines(
  { sentence, whatToDo, again, lastLine }: Problem,
  number: number,
  { command }: CertifyResult,
  program: Program,
): string[] {
  const fix = `   Fix: ${whatToDo}`;
  const [by = "exec", ...flags] = again;
  const words = program.scenario === undefined ? flags : [program.scenario, ...flags];
  const rerun = `Again: ${runAgainWith(by as "exec", words, { command, ...(program.program && { program: program.program }) })}`;
  const isShort = fix.length + rerun.length + 6 <= width;
  return [
    `${number}. ${sentence}`,
    ...(lastLine === undefined ? [] : [`   Its last line: ${lastLine}`]),
    ...(isShort ? [`${fix}      ${rerun}`] : [fix, `   ${rerun}`]),
  ];
}

/** The last lines of a command that cannot be judged. */
export function lastOutput(output: readonly string[]): string[] {
  return output.slice(-maxOutputLines);
}

const listLine = (title: string, words: readonly string[]) =>
  words.length === 0 ? [] : [`${title}: ${words.join(", ")}`];

/** What held: each group with its count, and each kind of resend. */
function heldWords(checks: readonly Judgment[]): string[] {
  const countOf = (group: string, words: string) => {
    const ofGroup = checks.filter(
      ({ name, outcome }) => groupOf(name) === group && !/ /.test(name) && outcome !== "allowed",
    );
    const held = ofGroup.filter(({ outcome }) => outcome === "held").length;
    return held === 0 ? [] : [`${words} (${held} of ${ofGroup.length})`];
  };
  const resends = checks.filter(({ name }) => groupOf(name) === "resend");
  const isWhole = (status: string) =>
    resends.every(({ name, outcome }) => name.split(".")[1] !== status || outcome === "held");
  const statuses = [...new Set(resends.map(({ name }) => name.split(".")[1] as string))].sort();
  const kinds = statuses.flatMap((status) => {
    if (isWhole(status) && (status === "401" || status === "429")) return [status];
    return resends.flatMap(({ name, outcome }) =>
      outcome === "held" && name.split(".")[1] === status ? [wordsOf(name)] : [],
    );
  });
  return [
    ...countOf("varied", "varied responses"),
    ...countOf("answer", "wrong answers noticed"),
    ...kinds,
    ...countOf("fault", "faults"),
    ...(checks.some(({ name, outcome }) => name === "advice" && outcome === "held")
      ? ["no key in output or URL"]
      : []),
  ];
}

const resendWords: Readonly<Record<string, string>> = {
  "resend.429.without": "429 without Retry-After",
  "resend.429.seconds": "429 with Retry-After",
  "resend.429.date": "429 with a date",
  "resend.503.date": "503 with a date",
};
const wordsOf = (name: string) =>
  resendWords[name] ?? name.replace(/^resend\.(?:(403)\.)?/, (_, status) => (status ? `${status} ` : ""));

/** What was not judged, with the reason: the same one once. */
function notJudgedLines(checks: readonly Judgment[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { name, outcome, why, whatToDo } of checks) {
    if (outcome !== "not_judged") continue;
    const reason = `${why}. ${whatToDo}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), wordsOf(name)]);
  }
  return [...byReason].map(([reason, names]) => `Not judged: ${listed(names, "and")}: ${reason}`);
}

const tones: Readonly<Record<Judgment["outcome"], Tone>> = {
  held: "good",
  failed: "bad",
  not_judged: "quiet",
  allowed: "quiet",
};

/** The certificate as a document, for its formats. */
export function certificateDocument(certified: CertifyResult): ReportLayout {
  const { verdict, problems, checks, scenario, why = "" } = certified;
  const rows = checks.map(({ name, outcome, why = "", whatToDo = "" }) => {
    const ofCheck = problems.filter(({ runs, ...problem }) => problem.name === name || runs.includes(name));
    const texts = ofCheck.map((problem) => `${problem.sentence}. ${problem.whatToDo}`);
    const details = texts.length > 0 ? texts : [`${why} ${whatToDo}`.trim()].filter(Boolean);
    return { cells: [name, { text: outcome.replace("_", " "), tone: tones[outcome] }], details: [details] };
  });
  const tone = verdict === "passed" ? "good" : "bad";
  return {
    kind: "certificate",
    subject: scenario,
    title: `Certificate of ${commandLine(certified.command)}`,
    sections: [{ title: "Checks", columns: ["what", "outcome", "why"], rows }],
    notes: [],
    conclusion: { text: `${verdict.replace("_", " ")}${why && `: ${why}`}`, tone },
    failures: [],
    json: certificateJson(certified),
  };
}
