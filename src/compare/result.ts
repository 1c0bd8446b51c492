import { pluralize } from "../report/plain-text.js";
import type { Section, Tone } from "../report/render/layout.js";
import { render, type TextStyle } from "../report/render/render.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { snakeCase } from "../rules/schema/json.js";
import { listed } from "../rules/schema/words.js";
import { type Learned, whereSeen } from "./assumptions.js";
import type { Attempt } from "./attempt.js";
import type { UnjudgedPlace } from "./contrasts.js";
import type { ContractDifference } from "./keys-of-outcomes.js";
import { describeResponse, shownText } from "./response.js";
import type { Seen } from "./seen.js";

interface ComparedOutcome extends Pick<Attempt, "outcome" | "variable"> {
  /** Why it was not tried, or agrees only in part. */
  readonly reason: string | undefined;
  readonly result: "agrees" | "agrees_in_part" | "differs" | "not_tried";
  readonly got: string | undefined;
}

/** The findings of a comparison; contains no key. */
export interface Comparison extends Pick<Learned, "assumptions" | "unseen"> {
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** In one or two sentences. */
  readonly whyNotCompared: string | undefined;
  /** The outcome whose request ended the comparison, for example with a lock. */
  readonly endedBy: PromisedOutcomeId | undefined;
  readonly notes: readonly string[];
  /**
   * `stopped`: nothing differs, but a response or a signal ended the comparison. `not_compared`: there was no response,
   * or not one of the API.
   */
  readonly verdict: "agrees" | "agrees_in_part" | "differs" | "stopped" | "not_compared";
  readonly outcomes: readonly ComparedOutcome[];
  /** The causes of 401 that were tried, and not compared with the others (R14). */
  readonly uncompared: readonly PromisedOutcomeId[];
  /** The places of a 401 that were not compared, or show nothing about R14, with the outcomes that agree only elsewhere. */
  readonly unjudged: readonly UnjudgedPlace[];
  readonly differences: readonly ContractDifference[];
  readonly seen: Seen;
}

/** What a comparison found, of all outcomes. */
interface Findings {
  readonly attempts: readonly Attempt[];
  readonly differences: readonly ContractDifference[];
  /** Why outcomes were not tried. */
  readonly untried: ReadonlyMap<PromisedOutcomeId, string>;
  /** Why causes of 401 were not compared with each other. */
  readonly uncompared: ReadonlyMap<PromisedOutcomeId, string>;
  readonly unjudged: readonly UnjudgedPlace[];
}

/** Why a 401 was not compared with those of other causes, or not at each place. */
function whyNotWhole(outcome: PromisedOutcomeId, { uncompared, unjudged }: Findings): string | undefined {
  const whyUncompared = uncompared.get(outcome);
  if (whyUncompared !== undefined) return `R14 was not compared: ${whyUncompared}`;
  const places = unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
  const shown = places.slice(0, mostPlaces).map(({ at, why }) => `at ${shownText(at)}, because ${why}`);
  if (shown.length === 0) return undefined;
  const more = places.length - shown.length;
  return `R14 was not judged ${shown.join("; ")}${more === 0 ? "" : `; and at ${pluralize(more, "place")} more`}`;
}

/** Why the second response of a working key is missing. */
function whyNotCounted(outcome: PromisedOutcomeId, { untried }: Findings): string | undefined {
  const why = outcome.startsWith("200") ? untried.get(outcome) : undefined;
  return why === undefined ? undefined : `usage.today was not compared: ${why}`;
}

/** A server's response can have thousands. */
const mostPlaces = 3;

/** What came of an outcome: it agrees only if all its responses do, and a 401 is compared with those of other causes. */
export function comparedOutcome(outcome: PromisedOutcomeId, findings: Findings): ComparedOutcome {
  const { attempts, differences, untried } = findings;
  const ofOutcome = attempts.filter((attempt) => attempt.outcome === outcome);
  const got = ofOutcome.map(({ response }) =>
    response === undefined ? "no response" : describeResponse(response),
  );
  const compared = {
    outcome,
    variable: ofOutcome[0]?.variable,
    got: ofOutcome.length === 0 ? undefined : [...new Set(got)].join(", then "),
  };
  const lastReason = ofOutcome.at(-1)?.uncounted?.why;
  const whyInPart = whyNotWhole(outcome, findings) ?? whyNotCounted(outcome, findings) ?? lastReason;
  if (differences.some((one) => one.outcome === outcome))
    return { ...compared, result: "differs", reason: undefined };
  if (ofOutcome.every(({ uncounted }) => uncounted !== undefined))
    return { ...compared, result: "not_tried", reason: untried.get(outcome) ?? lastReason };
  return { ...compared, result: whyInPart === undefined ? "agrees" : "agrees_in_part", reason: whyInPart };
}

const tones: Readonly<Record<ComparedOutcome["result"], Tone>> = {
  agrees: "good",
  agrees_in_part: "quiet",
  differs: "bad",
  not_tried: "quiet",
};

const verdictTones: Readonly<Record<Comparison["verdict"], Tone>> = {
  agrees: "good",
  agrees_in_part: "warning",
  differs: "bad",
  stopped: "bad",
  not_compared: "bad",
};

export function renderComparison(result: Comparison, format: "text" | "json", style?: TextStyle): string {
  const { url, requests, maxRequests, verdict, notes } = result;
  const isCompared = verdict !== "not_compared";
  return render(
    {
      kind: "comparison",
      subject: url,
      title: `Compared ${url} with the contract: ${requests} of at most ${maxRequests} requests`,
      sections: isCompared ? comparisonSections(result) : [],
      notes: isCompared ? notes : [],
      conclusion: { text: conclusionOf(result), tone: verdictTones[verdict] },
      failures: [],
      json: snakeCase(result) as object,
    },
    format,
    style,
  );
}

function conclusionOf(result: Comparison): string {
  const { whyNotCompared, verdict, differences, outcomes } = result;
  if (verdict === "not_compared") return whyNotCompared ?? "";
  const count = (wanted: ComparedOutcome["result"]) =>
    outcomes.filter(({ result }) => result === wanted).length;
  const inPart = count("agrees_in_part");
  const untried = count("not_tried");
  const agree = `${count("agrees")} of ${outcomes.length} outcomes agree`;
  const counts = `${agree}${inPart === 0 ? "" : `, ${inPart} in part`}, ${untried} ${untried === 1 ? "was" : "were"} not tried`;
  const start = {
    agrees: "Nothing differs",
    agrees_in_part: "Nothing that was compared differs",
    differs: pluralize(differences.length, "difference"),
    stopped: "Stopped early. Nothing that was compared differs",
  };
  return `${start[verdict]} from the contract: ${counts}.${whatIsOpen(result)}`;
}

/** The sentence on what was not judged of R14; empty if everything was. */
function whatIsOpen({ outcomes, uncompared, unjudged }: Comparison): string {
  const rejected = outcomes.filter(({ outcome, got }) => outcome.startsWith("401") && got !== undefined);
  const isAnyCompared = rejected.some(({ outcome }) => !uncompared.includes(outcome));
  if (!isAnyCompared) return uncompared.length === 0 ? "" : " R14 was not judged.";
  const causes = uncompared.length === 0 ? "" : ` for ${listed(uncompared, "and")}`;
  const names = [...new Set(unjudged.map(({ at }) => shownText(at)))];
  const shown = names.slice(0, mostPlaces);
  if (names.length > shown.length) shown.push(`${pluralize(names.length - shown.length, "place")} more`);
  const places = names.length === 0 ? "" : ` at ${listed(shown, "and")}`;
  if (causes === "" && places === "") return "";
  return ` R14 was not judged${causes}${causes !== "" && places !== "" ? ", and" : ""}${places}.`;
}

function comparisonSections({ outcomes, assumptions, unseen, seen, differences }: Comparison): Section[] {
  return [
    {
      title: "Outcomes",
      columns: ["outcome", "result", "response, key, reason"],
      rows: outcomes.map(({ outcome, result, got, variable, reason }) => ({
        cells: [
          outcome,
          { text: result.replaceAll("_", " "), tone: tones[result] },
          [got, variable, reason].filter(Boolean).join(", "),
        ],
      })),
    },
    {
      title: "What the specification leaves open, as this service does it",
      columns: ["assumption", "value", "seen in, or what would show it"],
      rows: [
        ...Object.entries(assumptions).map(([name, one]) => ({
          cells: [name, shownText(String(one.value)), whereSeen(one)],
        })),
        ...Object.entries(unseen).map(([name, needs]) => ({
          cells: [name, { text: "not seen", tone: "quiet" as const }, needs],
        })),
      ],
    },
    {
      title: "What else it does in another way than key-states",
      columns: ["what", "value", "seen in"],
      rows: Object.entries(seen).flatMap(([name, values]) =>
        values.map(({ value, from }) => ({ cells: [name, value, from.join(", ")] })),
      ),
    },
    {
      title: "Differences",
      columns: ["outcome", "where", "rules", "request", "expected", "found"],
      rows: differences.map((one) => ({
        cells: [
          { text: one.outcome, tone: "bad" },
          one.at,
          one.rules.join(", "),
          { text: requestIn(one), tone: "quiet" },
        ],
        details: [[one.expected], [one.found]],
      })),
    },
  ];
}

/** Which request it is about: only its id if it is the first one for its outcome. */
function requestIn({ request, requestId }: ContractDifference): string {
  if (request === undefined) return requestId === undefined ? "" : `request ${requestId}`;
  const nth = request === 2 ? "second request" : `request no. ${request}`;
  return requestId === undefined ? nth : `${nth}, ${requestId}`;
}
