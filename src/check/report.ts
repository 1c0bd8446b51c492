import { pluralize } from "../report/plain-text.js";
import type { ReportDocument, ReportFormat, Section, Tone } from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import type { PathId } from "../rules/outcomes.js";
import { snakeCase } from "../rules/schema/json.js";
import type { ContractDifference } from "./contract.js";
import { type Attempt, judgeAttempt } from "./judge.js";
import { assumptionsYaml, type InferredAssumption } from "./learn.js";
import { describeResponse } from "./response.js";

export type Verdict = "agrees" | "differs" | "not_tried";

interface Gathered {
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** Why nothing could be compared, in one or two sentences. */
  readonly stopped: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly compared: readonly ContractDifference[];
  readonly assumptions: readonly InferredAssumption[];
  readonly notes: readonly string[];
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

interface Row {
  readonly verdict: Verdict;
  readonly pathId?: PathId;
  readonly variable?: string | undefined;
  /** The response's status and code: `401 unauthorized`. */
  readonly got?: string | undefined;
  readonly reason?: string | undefined;
}

function pathRow(
  { pathId, variable, response, noResponse, reason }: Attempt,
  differences: readonly ContractDifference[],
) {
  const differs = differences.some((one) => one.pathId === pathId);
  const verdict: Verdict = differs ? "differs" : reason === undefined ? "agrees" : "not_tried";
  return {
    pathId,
    variable,
    verdict,
    got: response === undefined ? noResponse && "no response" : describeResponse(response),
    reason: differs ? undefined : reason,
  };
}

export function renderCheck(report: CheckReport, format: ReportFormat, style?: TextStyle): string {
  return render(checkDocument(report), format, style);
}

const verdicts: Readonly<Record<Verdict, { text: string; tone: Tone }>> = {
  agrees: { text: "agrees", tone: "good" },
  differs: { text: "differs", tone: "bad" },
  not_tried: { text: "not tried", tone: "quiet" },
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
    failures: [],
    json: checkJsonOf(report),
  };
}

function conclusion({ stopped, differences, paths }: CheckReport): string {
  if (stopped !== undefined) return stopped;
  const countsOf = (rows: readonly { readonly verdict: Verdict }[], what: string) => {
    const count = (wanted: Verdict) => rows.filter(({ verdict }) => verdict === wanted).length;
    const open = count("not_tried");
    return `${count("agrees")} of ${rows.length} ${what} agree, ${open} ${open === 1 ? "was" : "were"} not tried`;
  };
  const counts = countsOf(paths, "paths");
  if (differences.length === 0) return `Nothing differs from the contract: ${counts}.`;
  return `${pluralize(differences.length, "difference")} from the contract: ${counts}.`;
}

function sectionsOf({ paths, differences }: CheckReport): Section[] {
  const rowOf = (name: string, { verdict, got, variable, reason }: Row) => ({
    cells: [name, verdicts[verdict], [got, variable, reason].filter((text) => text).join(", ")],
  });
  return [
    {
      title: "Paths",
      columns: ["path", "verdict", "what came, key, reason"],
      rows: paths.map((row) => rowOf(row.pathId, row)),
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

function checkJsonOf({ assumptions, assumptionsYaml, stopped, ...rest }: CheckReport): object {
  const learned = assumptions.filter(({ value }) => value !== undefined);
  const open = assumptions.filter(({ value }) => value === undefined);
  return {
    ...(snakeCase({ ...rest, stopped: stopped ?? null }) as object),
    learned: Object.fromEntries(learned.map(({ name, value }) => [name, value])),
    not_learned: Object.fromEntries(open.map(({ name, because }) => [name, because])),
    assumptions_yaml: assumptionsYaml,
  };
}
