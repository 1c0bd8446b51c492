import { pluralize } from "../report/plain-text.js";
import type { Section, TableRow, Tone } from "../report/render/layout.js";
import { render, type TextStyle } from "../report/render/render.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import { type Learned, whereSeen } from "./assumptions.js";
import {
  type ContractDifference,
  type ContractRule,
  contractRules,
  type PromisedOutcomeId,
  type Unjudged,
} from "./findings.js";
import { quoted, shownText } from "./response.js";

/** What a comparison has found; contains no key. */
export interface Comparison {
  readonly url: string;
  /** When it began: `2026-03-02T09:00:00Z`. */
  readonly comparedAt: string;
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
  readonly unjudged: readonly Unjudged[];
  readonly assumptions: Learned["assumptions"];
  /** What would show the assumptions that no response has shown. */
  readonly unseen: Learned["unseen"];
  /** What else the service does in another way than `key-states`. */
  readonly seen: Learned["seen"];
  readonly differences: readonly ContractDifference[];
}

export interface ComparedOutcome {
  readonly outcome: PromisedOutcomeId;
  /** The variable with its key; `undefined` if it needs none, or nothing was sent. */
  readonly variable: string | undefined;
  /** The different responses in words; `undefined` if nothing was sent. */
  readonly got: string | undefined;
  readonly result: "agrees" | "agrees_in_part" | "differs" | "not_tried";
  /** Why it was not tried, or agrees only in part. */
  readonly reason: string | undefined;
}

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

export function renderComparison(comparison: Comparison, format: "text" | "json", style?: TextStyle): string {
  const { url, comparedAt, requests, maxRequests, verdict, notes } = comparison;
  const isCompared = verdict !== "not_compared";
  return render(
    {
      kind: "comparison",
      subject: url,
      title: `Compared ${url} with the contract at ${comparedAt}: ${requests} of at most ${maxRequests} requests`,
      sections: isCompared ? comparisonSections(comparison) : [],
      notes: isCompared ? notes : [],
      conclusion: { text: describeConclusion(comparison), tone: verdictTones[verdict] },
      failures: [],
      // An object stays an object.
      json: membersToSnakeCase(comparison) as object,
    },
    format,
    style,
  );
}

function comparisonSections(comparison: Comparison): Section[] {
  return [
    {
      title: "Outcomes",
      columns: ["outcome", "result", "response, key, reason"],
      rows: outcomeRows(comparison.outcomes),
    },
    {
      title: "What the specification leaves open, as this service does it",
      columns: ["assumption", "value", "seen in, or what would show it"],
      rows: assumptionTableRows(comparison),
    },
    {
      title: "What else it does in another way than key-states",
      columns: ["what", "value", "seen in"],
      rows: seenRows(comparison),
    },
    {
      title: "Differences",
      columns: ["outcomes", "where", "rules", "request", "expected", "found"],
      rows: mergeDifferences(comparison.differences).map(differenceRow),
    },
    { title: "Rules", columns: ["rule", "means"], rows: ruleRows(comparison) },
  ];
}

/** A reason that several outcomes share stands once: the others name the first of them. */
function outcomeRows(outcomes: readonly ComparedOutcome[]): TableRow[] {
  const firstByReason = new Map<string, PromisedOutcomeId>();
  const rows: TableRow[] = [];
  for (const { outcome, result, got, variable, reason } of outcomes) {
    const words: string[] = [];
    if (got !== undefined) words.push(got);
    if (variable !== undefined) words.push(variable);
    if (reason !== undefined) {
      const first = firstByReason.get(reason);
      words.push(first === undefined ? reason : `as ${first}`);
      if (first === undefined) firstByReason.set(reason, outcome);
    }

    const shownResult = { text: result.replaceAll("_", " "), tone: outcomeTones[result] };
    rows.push({ cells: [outcome, shownResult, words.join(", ")] });
  }
  return rows;
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

function seenRows({ seen }: Comparison): TableRow[] {
  const rows: TableRow[] = [];
  for (const [name, values] of Object.entries(seen)) {
    for (const { value, from } of values) rows.push({ cells: [name, String(value), from.join(", ")] });
  }
  return rows;
}

/** A difference with every outcome that has it. */
interface MergedDifference {
  readonly first: ContractDifference;
  readonly all: ContractDifference[];
  readonly outcomes: Set<PromisedOutcomeId>;
  readonly rules: Set<ContractRule>;
}

/** Merges the differences at one place with the same words, whichever outcomes and rules they have. */
function mergeDifferences(differences: readonly ContractDifference[]): MergedDifference[] {
  const mergedByContent = new Map<string, MergedDifference>();
  for (const difference of differences) {
    const { at, expected, found } = difference;
    const content = JSON.stringify([at, expected, found]);
    const merged = mergedByContent.get(content) ?? {
      first: difference,
      all: [],
      outcomes: new Set(),
      rules: new Set(),
    };
    merged.all.push(difference);
    merged.outcomes.add(difference.outcome);
    for (const rule of difference.rules) merged.rules.add(rule);
    mergedByContent.set(content, merged);
  }
  return [...mergedByContent.values()];
}

function differenceRow({ first, all, outcomes, rules }: MergedDifference): TableRow {
  const { at, expected, found, message, seen, requestId } = first;
  const named = [...outcomes].join(", ");
  // One request cannot stand for several outcomes: each of them has its own id.
  const ids = all.map(({ requestId }) => requestId).filter((id) => id !== undefined);
  let request = requestId && `request ${requestId}`;
  if (outcomes.size > 1) request = ids.length === 0 ? "" : `requests ${ids.join(", ")}`;
  const told = [request, seen && `seen ${seen}`].filter(Boolean).join(", ");
  return {
    cells: [{ text: named, tone: "bad" }, at, [...rules].join(", "), { text: told, tone: "quiet" }],
    // The last two columns. Each has a list of lines.
    details: [[expected], [message === undefined ? found : `${found}: ${quoted(message)}`]],
  };
}

/** Explains each rule that the text names. */
function ruleRows({ differences, unjudged }: Comparison): TableRow[] {
  const named = new Set<string>(differences.flatMap(({ rules }) => rules));
  for (const { at } of unjudged) named.add(at);
  const rows: TableRow[] = [];
  for (const [rule, text] of Object.entries(contractRules)) {
    if (named.has(rule)) rows.push({ cells: [rule, text] });
  }
  return rows;
}

function describeConclusion(comparison: Comparison): string {
  const { whyNotCompared, verdict, differences, outcomes } = comparison;
  if (verdict === "not_compared") return whyNotCompared ?? "";

  const counts = { agrees: 0, agrees_in_part: 0, differs: 0, not_tried: 0 };
  for (const { result } of outcomes) counts[result] += 1;
  const words = [`${counts.agrees} of ${outcomes.length} outcomes agree`];
  if (counts.agrees_in_part > 0) words.push(`${counts.agrees_in_part} in part`);
  words.push(`${counts.not_tried} ${counts.not_tried === 1 ? "was" : "were"} not tried`);

  const start = {
    agrees: "Nothing differs",
    agrees_in_part: "Nothing that was compared differs",
    differs: pluralize(mergeDifferences(differences).length, "difference"),
    stopped: "Stopped early. Nothing that was compared differs",
  };
  return `${start[verdict]} from the contract: ${words.join(", ")}.`;
}

// The scenario of `--write-scenario`.

/** The first line of the file; only a file with it is replaced. */
export const learnedHeading = "# Written by compare, which replaces this file: extend it.";

/** Returns a scenario with the learned assumptions, of which there is one at least; of the URL, it contains only the host. */
export function learnedScenario({
  assumptions,
  seen,
  url,
  comparedAt,
}: Pick<Comparison, "assumptions" | "seen" | "url" | "comparedAt">): string {
  const lines: string[] = [];
  for (const [name, learned] of Object.entries(assumptions)) {
    lines.push(`  ${name}: ${JSON.stringify(learned.value)} # ${whereSeen(learned)}`);
  }

  // What no assumption sets is a comment.
  let comments = "";
  for (const [name, values] of Object.entries(seen)) {
    for (const { value, from } of values) {
      comments += `#   ${name}: ${oneSafeLine(String(value))} (${from.join(", ")})\n`;
    }
  }
  if (comments !== "") comments = `# Not in this scenario, which has the keys of key-states:\n${comments}`;

  return `${learnedHeading}
# What ${oneSafeLine(new URL(url).host)} does, compared at ${comparedAt}.
${comments}version: 1
extends: key-states
assumptions:
${lines.join("\n")}
`;
}

export function isLearnedScenario(text: string): boolean {
  const [firstLine = ""] = text.split("\n");
  return firstLine.trimEnd() === learnedHeading;
}
