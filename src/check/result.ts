import { pluralize } from "../report/plain-text.js";
import type { Section, Tone } from "../report/render/layout.js";
import { render, type TextStyle } from "../report/render/render.js";
import { snakeCase } from "../rules/schema/json.js";
import type { ContractDifference } from "./contract.js";
import type { Attempt } from "./judge.js";
import { describeResponse } from "./response.js";

type Verdict = "agrees" | "differs" | "not_tried";

interface PathVerdict extends Pick<Attempt, "pathId" | "variable" | "reason"> {
  readonly verdict: Verdict;
  readonly got: string | undefined;
}

/** The findings of a check; contains no key. */
export interface Comparison {
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** Why nothing could be compared, in one or two sentences. */
  readonly stopped: string | undefined;
  readonly notes: readonly string[];
  readonly verdict: "agrees" | "differs" | "stopped";
  readonly paths: readonly PathVerdict[];
  readonly differences: readonly ContractDifference[];
}

export function pathVerdict(
  { pathId, variable, response, noResponse, reason }: Attempt,
  differences: readonly ContractDifference[],
): PathVerdict {
  const differs = differences.some((one) => one.pathId === pathId);
  return {
    pathId,
    variable,
    verdict: differs ? "differs" : reason === undefined ? "agrees" : "not_tried",
    got: response === undefined ? noResponse && "no response" : describeResponse(response),
    reason: differs ? undefined : reason,
  };
}

const tones: Readonly<Record<Verdict, Tone>> = { agrees: "good", differs: "bad", not_tried: "quiet" };

export function renderCheck(result: Comparison, format: "text" | "json", style?: TextStyle): string {
  const { url, requests, maxRequests, stopped, notes, differences } = result;
  return render(
    {
      kind: "check",
      subject: url,
      title: `Checked ${url} with ${requests} of at most ${maxRequests} requests`,
      sections: stopped === undefined ? checkSections(result) : [],
      notes: stopped === undefined ? notes : [],
      conclusion: { text: conclusionOf(result), tone: differences.length === 0 ? "good" : "bad" },
      failures: [],
      json: snakeCase({ ...result, stopped: stopped ?? null }) as object,
    },
    format,
    style,
  );
}

function conclusionOf({ stopped, differences, paths }: Comparison): string {
  if (stopped !== undefined) return stopped;
  const count = (wanted: Verdict) => paths.filter(({ verdict }) => verdict === wanted).length;
  const open = count("not_tried");
  const counts = `${count("agrees")} of ${paths.length} paths agree, ${open} ${open === 1 ? "was" : "were"} not tried`;
  if (differences.length === 0) return `Nothing differs from the contract: ${counts}.`;
  return `${pluralize(differences.length, "difference")} from the contract: ${counts}.`;
}

function checkSections({ paths, differences }: Comparison): Section[] {
  return [
    {
      title: "Paths",
      columns: ["path", "verdict", "response, key, reason"],
      rows: paths.map(({ pathId, verdict, got, variable, reason }) => ({
        cells: [
          pathId,
          { text: verdict.replace("_", " "), tone: tones[verdict] },
          [got, variable, reason].filter(Boolean).join(", "),
        ],
      })),
    },
    {
      title: "Differences",
      columns: ["path", "where", "rules", "request", "expected", "found"],
      rows: differences.map(({ pathId, at, rules, expected, found, requestId }) => ({
        cells: [
          { text: pathId, tone: "bad" },
          at,
          rules.join(", "),
          { text: requestId === undefined ? "" : `request ${requestId}`, tone: "quiet" },
        ],
        details: [[expected], [found]],
      })),
    },
  ];
}
