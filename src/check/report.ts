import { pluralize } from "../report/plain-text.js";
import type {
  ReportDocument,
  ReportFormat,
  Section,
  Suite,
  TestCase,
  Tone,
} from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import { snakeCase } from "../spec/schema/json.js";
import type { SeenResponse } from "./against.js";
import { describeAnswer } from "./answer.js";
import type { ContractDifference } from "./contract.js";
import { type Attempt, judgeAttempt } from "./judge.js";
import { assumptionsYaml, type InferredAssumption } from "./learn.js";
import type { LiveChange, LiveState } from "./live-changes.js";

export type Verdict = "agrees" | "differs" | "not_tried";

interface Gathered {
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** Why nothing could be compared, in one or two sentences. */
  readonly stopped: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly responses: readonly SeenResponse[];
  readonly compared: readonly ContractDifference[];
  readonly assumptions: readonly InferredAssumption[];
  readonly changes?: readonly LiveChange[] | undefined;
  readonly notes: readonly string[];
  readonly newFacts?: readonly string[] | undefined;
}

/** The findings of a check; contains no key. */
export type CheckReport = ReturnType<typeof checkReportOf>;

export function checkReportOf({ attempts, compared, ...rest }: Gathered) {
  const differences = [...attempts.flatMap(judgeAttempt), ...compared];
  const verdict: Verdict = differences.length > 0 ? "differs" : "agrees";
  return {
    ...rest,
    verdict: rest.stopped === undefined ? verdict : ("stopped" as const),
    paths: attempts.map((attempt) => pathRow(attempt, differences)),
    differences,
    assumptionsYaml: assumptionsYaml(rest.assumptions),
  };
}

function pathRow(
  { pathId, variable, answer, noAnswer, reason }: Attempt,
  differences: readonly ContractDifference[],
) {
  const differs = differences.some((one) => one.pathId === pathId);
  const verdict: Verdict = differs ? "differs" : reason === undefined ? "agrees" : "not_tried";
  return {
    pathId,
    variable,
    verdict,
    /** The response's status and code: `401 unauthorized`. */
    got: answer === undefined ? noAnswer && "no response" : describeAnswer(answer),
    reason,
  };
}

export function renderCheck(report: CheckReport, format: ReportFormat, style?: TextStyle): string {
  return render(checkDocument(report), format, style);
}

const verdicts: Readonly<Record<Verdict, { text: string; tone: Tone; inJunit: TestCase["verdict"] }>> = {
  agrees: { text: "agrees", tone: "good", inJunit: "passed" },
  differs: { text: "differs", tone: "bad", inJunit: "failed" },
  not_tried: { text: "not tried", tone: "quiet", inJunit: "skipped" },
};

function checkDocument(report: CheckReport): ReportDocument {
  const { url, requests, maxRequests, verdict, assumptionsYaml, notes, stopped } = report;
  return {
    kind: "check",
    subject: url,
    title: `Checked ${url} with ${requests} of at most ${maxRequests} requests`,
    ...(stopped === undefined && {
      yaml: { title: "Assumptions for a scenario", text: assumptionsYaml },
    }),
    sections: stopped === undefined ? sectionsOf(report) : [],
    notes: stopped === undefined ? notes : [],
    conclusion: { text: conclusion(report), tone: verdict === "agrees" ? "good" : "bad" },
    failures: (report.newFacts ?? []).map((fact) => `New on ${fact}.`),
    suites: suitesOf(report),
    json: jsonOf(report),
  };
}

function conclusion({ stopped, differences, paths }: CheckReport): string {
  if (stopped !== undefined) return stopped;
  const count = (wanted: Verdict) => paths.filter(({ verdict }) => verdict === wanted).length;
  const counts = `${count("agrees")} of ${paths.length} paths agree, ${count("not_tried")} were not tried`;
  if (differences.length === 0) return `Nothing differs from the contract: ${counts}.`;
  return `${pluralize(differences.length, "difference")} from the contract: ${counts}.`;
}

const liveStates: Readonly<Record<LiveState, { text: string; tone: Tone }>> = {
  live: { text: "live", tone: "warning" },
  partly: { text: "partly live", tone: "warning" },
  not_yet: { text: "not yet", tone: "good" },
  not_seen: { text: "not seen", tone: "quiet" },
};

function sectionsOf({ paths, differences, changes = [] }: CheckReport): Section[] {
  return [
    {
      title: "Announced changes",
      columns: ["date", "change", "state", "announced"],
      rows: changes.map(({ ref, date, state, say = "" }) => ({ cells: [date, ref, liveStates[state], say] })),
    },
    {
      title: "Paths",
      columns: ["path", "verdict", "what came, key, reason"],
      rows: paths.map(({ pathId, verdict, got, variable, reason }) => ({
        cells: [pathId, verdicts[verdict], [got, variable, reason].filter((text) => text).join(", ")],
      })),
    },
    {
      title: "Differences",
      columns: ["path", "where", "rules", "request", "expected", "found"],
      rows: differences.map(({ pathId, at, rules: broken, expected, found, requestId }) => ({
        cells: [
          { text: pathId, tone: "bad" },
          at,
          broken.join(", "),
          { text: requestId === undefined ? "" : `request ${requestId}`, tone: "quiet" },
        ],
        details: [[expected], [found]],
      })),
    },
  ];
}

/** Returns a case for each path and new fact. If the check stopped, the first path fails with the reason. */
function suitesOf({ paths, differences, stopped, newFacts, changes }: CheckReport): Suite[] {
  const pathCases = paths.map(({ pathId, verdict, reason }, index): TestCase => {
    if (stopped !== undefined && index === 0) return { name: pathId, verdict: "failed", message: stopped };
    const lines = differences
      .filter((one) => one.pathId === pathId)
      .map(({ at, expected, found }) => `${pathId} ${at}: expected ${expected}, found ${found}`);
    const [message = reason] = lines;
    const output = lines.join("\n") || undefined;
    return { name: pathId, verdict: verdicts[verdict].inJunit, message, output };
  });
  return [
    { name: "paths", cases: pathCases },
    ...(changes === undefined ? [] : [{ name: "changes", cases: changes.map(changeCase) }]),
    ...(newFacts === undefined ? [] : [{ name: "new", cases: newFacts.map(newFactCase) }]),
  ];
}

const changeCase = ({ ref, date, state }: LiveChange): TestCase => {
  const isSeen = state !== "not_seen";
  return { name: `${date} ${ref}: ${liveStates[state].text}`, verdict: isSeen ? "passed" : "skipped" };
};

const newFactCase = (message: string): TestCase => ({ name: message, verdict: "failed", message });

export function jsonOf({ assumptions, assumptionsYaml, stopped, ...rest }: CheckReport): object {
  const learned = assumptions.filter(({ value }) => value !== undefined);
  const open = assumptions.filter(({ value }) => value === undefined);
  return {
    ...(snakeCase({ ...rest, stopped: stopped ?? null }) as object),
    learned: Object.fromEntries(learned.map(({ name, value }) => [name, value])),
    not_learned: Object.fromEntries(open.map(({ name, because }) => [name, because])),
    assumptions_yaml: assumptionsYaml,
  };
}
