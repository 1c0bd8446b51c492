import { pluralize } from "../report/plain-text.js";
import type { Section, Tone } from "../report/render/layout.js";
import { render, type TextStyle } from "../report/render/render.js";
import { snakeCase } from "../rules/schema/json.js";
import type { Learned } from "./assumptions.js";
import type { ContractDifference } from "./contract.js";
import type { Attempt } from "./judge.js";
import { describeResponse, shownText } from "./response.js";

interface ComparedOutcome extends Pick<Attempt, "outcome" | "variable" | "reason"> {
  readonly result: "agrees" | "differs" | "not_tried";
  readonly got: string | undefined;
}

/** The findings of a comparison; contains no key. */
export interface Comparison extends Pick<Learned, "assumptions" | "unseen"> {
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** Why nothing could be compared, in one or two sentences. */
  readonly stopped: string | undefined;
  readonly notes: readonly string[];
  readonly verdict: "agrees" | "differs" | "stopped";
  readonly outcomes: readonly ComparedOutcome[];
  readonly differences: readonly ContractDifference[];
}

export function comparedOutcome(
  { outcome, variable, response, noResponse, reason }: Attempt,
  differences: readonly ContractDifference[],
): ComparedOutcome {
  const differs = differences.some((one) => one.outcome === outcome);
  return {
    outcome,
    variable,
    result: differs ? "differs" : reason === undefined ? "agrees" : "not_tried",
    got: response === undefined ? noResponse && "no response" : describeResponse(response),
    reason: differs ? undefined : reason,
  };
}

const tones: Readonly<Record<ComparedOutcome["result"], Tone>> = {
  agrees: "good",
  differs: "bad",
  not_tried: "quiet",
};

export function renderComparison(result: Comparison, format: "text" | "json", style?: TextStyle): string {
  const { url, requests, maxRequests, stopped, notes, differences } = result;
  return render(
    {
      kind: "comparison",
      subject: url,
      title: `Compared ${url} with the contract: ${requests} of at most ${maxRequests} requests`,
      sections: stopped === undefined ? comparisonSections(result) : [],
      notes: stopped === undefined ? notes : [],
      conclusion: { text: conclusionOf(result), tone: differences.length === 0 ? "good" : "bad" },
      failures: [],
      json: snakeCase({ ...result, stopped: stopped ?? null }) as object,
    },
    format,
    style,
  );
}

function conclusionOf({ stopped, differences, outcomes }: Comparison): string {
  if (stopped !== undefined) return stopped;
  const count = (wanted: ComparedOutcome["result"]) =>
    outcomes.filter(({ result }) => result === wanted).length;
  const open = count("not_tried");
  const counts = `${count("agrees")} of ${outcomes.length} outcomes agree, ${open} ${open === 1 ? "was" : "were"} not tried`;
  if (differences.length === 0) return `Nothing differs from the contract: ${counts}.`;
  return `${pluralize(differences.length, "difference")} from the contract: ${counts}.`;
}

function comparisonSections({ outcomes, assumptions, unseen, differences }: Comparison): Section[] {
  return [
    {
      title: "Outcomes",
      columns: ["outcome", "result", "response, key, reason"],
      rows: outcomes.map(({ outcome, result, got, variable, reason }) => ({
        cells: [
          outcome,
          { text: result.replace("_", " "), tone: tones[result] },
          [got, variable, reason].filter(Boolean).join(", "),
        ],
      })),
    },
    {
      title: "What the specification leaves open, as this service does it",
      columns: ["assumption", "value", "seen in, or what would show it"],
      rows: [
        ...Object.entries(assumptions).map(([name, { value, from }]) => ({
          cells: [name, shownText(String(value)), from.join(", ")],
        })),
        ...Object.entries(unseen).map(([name, needs]) => ({
          cells: [name, { text: "not seen", tone: "quiet" as const }, needs],
        })),
      ],
    },
    {
      title: "Differences",
      columns: ["outcome", "where", "rules", "request", "expected", "found"],
      rows: differences.map(({ outcome, at, rules, expected, found, requestId }) => ({
        cells: [
          { text: outcome, tone: "bad" },
          at,
          rules.join(", "),
          { text: requestId === undefined ? "" : `request ${requestId}`, tone: "quiet" },
        ],
        details: [[expected], [found]],
      })),
    },
  ];
}
