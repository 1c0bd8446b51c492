import { pluralize } from "../report/plain-text.js";
import type { Section, TableRow, Tone } from "../report/render/layout.js";
import { render, type TextStyle } from "../report/render/render.js";
import { outcomeRow } from "../rules/outcomes.js";
import { snakeCase } from "../schema/json.js";
import { listed } from "../schema/words.js";
import { whereSeen } from "./assumptions.js";
import type { ContractDifference } from "./keys-of-outcomes.js";
import { shownText } from "./response.js";
import { type ComparedOutcome, type Comparison, mostPlaces } from "./result.js";
import type { Seen } from "./seen.js";

const outcomeTones: Readonly<Record<ComparedOutcome["result"], Tone>> = {
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
      conclusion: { text: describeConclusion(result), tone: verdictTones[verdict] },
      failures: [],
      json: snakeCase(result) as object,
    },
    format,
    style,
  );
}

function comparisonSections(result: Comparison): Section[] {
  return [
    {
      title: "Outcomes",
      columns: ["outcome", "result", "response, key, reason"],
      rows: result.outcomes.map(comparedOutcomeRow),
    },
    {
      title: "What the specification leaves open, as this service does it",
      columns: ["assumption", "value", "seen in, or what would show it"],
      rows: assumptionTableRows(result),
    },
    {
      title: "What else it does in another way than key-states",
      columns: ["what", "value", "seen in"],
      rows: seenRows(result.seen),
    },
    {
      title: "Differences",
      columns: ["outcome", "where", "rules", "request", "expected", "found"],
      rows: result.differences.map(differenceRow),
    },
  ];
}

function comparedOutcomeRow({ outcome, result, got, variable, reason }: ComparedOutcome): TableRow {
  const words = [got, variable, reason].filter(Boolean);
  const shownResult = { text: result.replaceAll("_", " "), tone: outcomeTones[result] };
  return { cells: [outcome, shownResult, words.join(", ")] };
}

function assumptionTableRows({ assumptions, unseen }: Comparison): TableRow[] {
  const rows: TableRow[] = [];
  for (const [name, learned] of Object.entries(assumptions)) {
    rows.push({ cells: [name, shownText(String(learned.value)), whereSeen(learned)] });
  }
  for (const [name, needs] of Object.entries(unseen)) {
    rows.push({ cells: [name, { text: "not seen", tone: "quiet" }, needs] });
  }
  return rows;
}

function seenRows(seen: Seen): TableRow[] {
  const rows: TableRow[] = [];
  for (const [name, values] of Object.entries(seen)) {
    for (const { value, from } of values) rows.push({ cells: [name, value, from.join(", ")] });
  }
  return rows;
}

function differenceRow(difference: ContractDifference): TableRow {
  const { outcome, at, rules, expected, found } = difference;
  const request = describeRequest(difference);
  return {
    cells: [{ text: outcome, tone: "bad" }, at, rules.join(", "), { text: request, tone: "quiet" }],
    details: [[expected], [found]],
  };
}

/** Names the request of a difference: only by its id if it is the first one for its outcome. */
function describeRequest({ request, requestId }: ContractDifference): string {
  if (request === undefined) return requestId === undefined ? "" : `request ${requestId}`;
  const nth = request === 2 ? "second request" : `request no. ${request}`;
  return requestId === undefined ? nth : `${nth}, ${requestId}`;
}

function describeConclusion(result: Comparison): string {
  const { whyNotCompared, verdict, differences, outcomes } = result;
  if (verdict === "not_compared") return whyNotCompared ?? "";

  const counts = { agrees: 0, agrees_in_part: 0, differs: 0, not_tried: 0 };
  for (const { result } of outcomes) counts[result] += 1;
  const words = [`${counts.agrees} of ${outcomes.length} outcomes agree`];
  if (counts.agrees_in_part > 0) words.push(`${counts.agrees_in_part} in part`);
  words.push(`${counts.not_tried} ${counts.not_tried === 1 ? "was" : "were"} not tried`);

  const start = {
    agrees: "Nothing differs",
    agrees_in_part: "Nothing that was compared differs",
    differs: pluralize(differences.length, "difference"),
    stopped: "Stopped early. Nothing that was compared differs",
  };
  return `${start[verdict]} from the contract: ${words.join(", ")}.${sentenceOnR14(result)}`;
}

/** The sentence on what was not judged of R14, after a space; empty if everything was, or no 401 was tried. */
function sentenceOnR14({ outcomes, uncompared, unjudged }: Comparison): string {
  const tried = outcomes.filter(
    ({ outcome, got }) => outcomeRow(outcome).status === 401 && got !== undefined,
  );
  const isAnyCompared = tried.some(({ outcome }) => !uncompared.includes(outcome));
  if (!isAnyCompared) return uncompared.length === 0 ? "" : " R14 was not judged.";

  const unjudgedWords: string[] = [];
  if (uncompared.length > 0) unjudgedWords.push(`for ${listed(uncompared, "and")}`);

  const places = [...new Set(unjudged.map(({ at }) => shownText(at)))];
  const named = places.slice(0, mostPlaces);
  const more = places.length - named.length;
  if (more > 0) named.push(`${pluralize(more, "place")} more`);
  if (named.length > 0) unjudgedWords.push(`at ${listed(named, "and")}`);
  return unjudgedWords.length === 0 ? "" : ` R14 was not judged ${unjudgedWords.join(", and ")}.`;
}
