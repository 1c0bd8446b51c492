import { pluralize } from "../report/plain-text.js";
import type { Section, Tone } from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import { snakeCase } from "../rules/schema/json.js";
import type { ContractDifference } from "./contract.js";
import { type Attempt, judgeAttempt } from "./judge.js";
import { describeResponse } from "./response.js";

interface Gathered {
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** Why nothing could be compared, in one or two sentences. */
  readonly stopped: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly compared: readonly ContractDifference[];
  readonly notes: readonly string[];
}

type Verdict = "agrees" | "differs" | "not_tried";

/** The findings of a check; contains no key. */
export type CheckReport = ReturnType<typeof checkResultOf>;

export function checkResultOf({ attempts, compared, ...rest }: Gathered) {
  const differences = [...attempts.flatMap(judgeAttempt), ...compared];
  const verdict = differences.length > 0 ? "differs" : "agrees";
  return {
    ...rest,
    verdict: rest.stopped === undefined ? verdict : "stopped",
    paths: attempts.map((attempt) => pathRow(attempt, differences)),
    differences,
  };
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

const tones: Readonly<Record<Verdict, Tone>> = { agrees: "good", differs: "bad", not_tried: "quiet" };

export function renderCheck(result: CheckReport, format: "text" | "json", style?: TextStyle): string {
  const { url, requests, maxRequests, stopped, notes, differences } = result;
  return render(
    {
      kind: "check",
      subject: url,
      title: `Checked ${url} with ${requests} of at most ${maxRequests} requests`,
      sections: stopped === undefined ? sectionsOf(result) : [],
      notes: stopped === undefined ? notes : [],
      conclusion: { text: conclusionOf(result), tone: differences.length === 0 ? "good" : "bad" },
      failures: [],
      json: snakeCase({ ...result, stopped: stopped ?? null }) as object,
    },
    format,
    style,
  );
}

function conclusionOf({ stopped, differences, paths }: CheckReport): string {
  if (stopped !== undefined) return stopped;
  const count = (wanted: Verdict) => paths.filter(({ verdict }) => verdict === wanted).length;
  const open = count("not_tried");
  const counts = `${count("agrees")} of ${paths.length} paths agree, ${open} ${open === 1 ? "was" : "were"} not tried`;
  if (differences.length === 0) return `Nothing differs from the contract: ${counts}.`;
  return `${pluralize(differences.length, "difference")} from the contract: ${counts}.`;
}

function sectionsOf({ paths, differences }: CheckReport): Section[] {
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
