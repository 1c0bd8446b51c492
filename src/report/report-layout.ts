import type { AdviceLevel } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import { effectAt } from "../rules/fault-effects.js";
import { isSuccess } from "../rules/outcomes.js";
import { snakeCase } from "../rules/schema/json.js";
import { listed } from "../rules/schema/words.js";
import { escapeControls } from "../rules/terminal-text.js";
import { pluralize } from "./plain-text.js";
import type { ReportFormat, ReportLayout, Section, TableRow, Tone } from "./render/layout.js";
import { render, type TextStyle } from "./render/render.js";
import type {
  HowToCover,
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedOutcome,
  ReportedRequest,
} from "./report-shape.js";
import type { UnmetThreshold } from "./thresholds.js";

interface RenderOptions extends TextStyle {
  readonly failures?: readonly UnmetThreshold[];
  /** Why no request may have come, as a sentence. */
  readonly hint?: string | undefined;
  /** The command of `certify` for a client that covers everything. */
  readonly next?: string | undefined;
}

export function renderReport(
  report: Report,
  format: ReportFormat,
  { failures = [], hint, next, ...style }: RenderOptions = {},
): string {
  return render(reportLayout(report, failures, { hint, next }), format, style);
}

export function conclusion({ requests, coverage, announced, faults, advice }: Report): string {
  const { percent, covered, promised } = coverage;
  const count = (level: AdviceLevel) => advice.filter((row) => row.level === level).length;
  const counts = (["error", "warning"] as const)
    .filter((level) => count(level) > 0)
    .map((level) => pluralize(count(level), level));
  const advised = `Advice: ${counts.join(", ")}`;
  const share = `Coverage ${percent}%: ${covered} of ${promised} promised outcomes covered`;
  if (requests === 0)
    return `The client never called the API. ${[share, ...(counts.length > 0 ? [advised] : [])].join(". ")}.`;
  const notes = count("note") === 0 ? "" : `; ${pluralize(count("note"), "note")}`;
  return [
    share,
    ...(announced.total === 0
      ? []
      : [`Announced endpoints: ${announced.covered} of ${announced.total} covered`]),
    ...(faults.covered === 0 ? [] : [`Faults: ${faults.covered} of ${faults.total} covered`]),
    `${counts.length === 0 ? "No advice" : advised}${notes}.`,
  ].join(". ");
}

function unreadNote({ unread }: Report): string[] {
  if (unread === 0) return [];
  return [
    `The client closed the connection before ${pluralize(unread, "delayed response")} arrived. The outcomes count as covered, but the client has not seen these responses. Is its timeout shorter than the fault's latency on purpose?`,
  ];
}

function reportLayout(
  report: Report,
  unmet: readonly UnmetThreshold[],
  { hint, next }: Pick<RenderOptions, "hint" | "next">,
): ReportLayout {
  const { scenario, requests, advice, coverage } = report;
  const isWhole = coverage.covered === coverage.promised;
  const isGood = isWhole && !advice.some(isAdvice);
  const notes = [
    ...unreadNote(report),
    ...(isWhole ? [`Every promised outcome is covered.${next ? ` Next: ${next}` : ""}`] : []),
  ];
  const hints = requests === 0 && hint !== undefined ? [hint] : [];
  const text = conclusion(report);
  const failures = unmet.map(({ sentence }) => sentence);
  return {
    kind: "report",
    subject: scenario,
    title: titleOf(report),
    sections: sectionsOf(report),
    notes,
    conclusion: { text, tone: requests === 0 ? "warning" : isGood ? "good" : undefined },
    failures,
    json: { ...(snakeCase(report) as object), conclusion: text, notes: [...notes, ...hints], failures },
  };
}

function sectionsOf(report: Report): Section[] {
  const { requests, endpoints, resends, advice } = report;
  const tables = [
    outcomesSection(report),
    {
      title: "Endpoints",
      columns: ["endpoint", "coverage", "requests", "operation id", "release"],
      // The table of outcomes shows everything about the only endpoint.
      rows: endpoints.length === 1 ? [] : endpoints.map(endpointRow),
    },
    {
      title: "Resent after a rejection",
      columns: ["outcome", "key", "requests"],
      rows: resends.map(({ outcome, key, fingerprint, count }) => ({
        cells: [outcome, key ?? fingerprint ?? "", String(count)],
      })),
    },
  ];
  return [
    // A client that never called needs no table, but may have printed a key.
    ...(requests === 0 ? [] : tables),
    adviceSection("Advice", advice.filter(isAdvice)),
    adviceSection(
      "Notes",
      advice.filter((row) => !isAdvice(row)),
    ),
  ];
}

function outcomesSection({ outcomes, endpoints }: Report): Section {
  const announced = endpoints.filter(({ release }) => release === "announced");
  const isAnnounced = ({ outcome }: ReportedOutcome) =>
    isSuccess(outcome) && announced.some(({ operationId }) => outcome.endsWith(`.${operationId}`));
  const shownRows = outcomes.filter((row) => row.promised || row.covered || isAnnounced(row));
  const shared = sharedRequest(shownRows);
  return {
    title: "Outcomes",
    columns: ["outcome", "requests", "when, and how to cover it"],
    rows: shownRows.map((row) => outcomeRow(row, isAnnounced(row), shared)),
    note: shared && { text: `With its variable instead of ${variableOf(shared.ref)}:`, code: shared.curl },
  };
}

function titleOf({ requests, runs, ...run }: Report): string {
  const total = pluralize(requests, "request");
  if (runs === undefined) return `${total} to ${sandboxOf(run)}`;
  const sandboxes = runs.map(sandboxOf);
  return `${total} in ${pluralize(runs.length, "run")}, to ${[...new Set(sandboxes)].join(", ")}`;
}

function sandboxOf({ scenario, seed, profile, pinned }: NonNullable<Report["runs"]>[number]): string {
  const butFor = pinned.length === 0 ? "" : ` except ${listed(pinned, "and")}`;
  return `${scenario} (seed ${seed}, profile ${profile}${butFor})`;
}

function endpointRow({ method, path, operationId, release, requests, covered }: ReportedEndpoint): TableRow {
  const coverage = covered ? "covered" : "not covered";
  const tone = covered ? "good" : "warning";
  return {
    cells: [
      `${method} ${path}`,
      { text: coverage, tone },
      requests > 0 ? String(requests) : "-",
      operationId,
      release,
    ],
  };
}

function outcomeRow(row: ReportedOutcome, isAnnounced: boolean, shared: HowToCover | undefined): TableRow {
  const { outcome, promised, covered, count, when, howToCover } = row;
  // A covered outcome that is not promised shows nothing good or bad.
  const tone = promised ? (covered ? "good" : "warning") : undefined;
  const what = promised ? when : `${when} (${isAnnounced ? "announced" : "not promised"})`;
  const text = howToCover === null ? what : `${what}: ${howToCover.text}`;
  const isShared = howToCover === null || (shared !== undefined && isLike(row, shared));
  const cell = isShared ? text : { text: `${text}:`, code: howToCover.curl };
  return { cells: [outcome, { text: count > 0 ? String(count) : "-", tone }, cell] };
}

/** Whether an outcome's command differs from this one only in its key. The command of an outcome without a response has a timeout. */
function isLike({ outcome, howToCover }: ReportedOutcome, { request }: HowToCover): boolean {
  return (
    effectAt(outcome)?.ends !== "hang" && JSON.stringify(howToCover?.request) === JSON.stringify(request)
  );
}

/** How to cover the first outcome whose request also covers others with another key; `undefined` if each has its own. */
function sharedRequest(outcomes: readonly ReportedOutcome[]): HowToCover | undefined {
  const isShared = (how: HowToCover) => outcomes.filter((row) => isLike(row, how)).length > 1;
  return outcomes
    .flatMap(({ howToCover }) => howToCover ?? [])
    .find((how) => how.ref !== "none" && isShared(how));
}

const toneOfLevel: Readonly<Record<AdviceLevel, Tone>> = { error: "bad", warning: "warning", note: "quiet" };

// Notes are information and require no change.
function isAdvice({ level }: ReportedAdvice): boolean {
  return level !== "note";
}

function adviceSection(title: string, advice: readonly ReportedAdvice[]): Section {
  const columns = ["level", "advice", "how often", "rule", "what happened", "what to do", "requests"];
  return { title, columns, rows: advice.map(adviceRow) };
}

function adviceRow({ id, level, rule, count, meaning, whatToDo, examples }: ReportedAdvice): TableRow {
  // Runs with the same seed send equal requests.
  const lines = [...new Set(examples.map(requestLine))];
  const more = examples.length === 0 ? 0 : count - examples.length;
  return {
    cells: [{ text: level, tone: toneOfLevel[level] }, id, timesOf({ id, count }), rule],
    details: [[meaning], [whatToDo], [...lines, ...(more > 0 ? [`and ${more} more`] : [])]],
  };
}

function requestLine({ id, at, method, path, key, fingerprint, didYouMean }: ReportedRequest): string {
  const suggestion = didYouMean === null ? "" : `, did you mean ${didYouMean}?`;
  return `${at} ${method} ${path}, ${key ?? fingerprint ?? "none"}, ${id}${suggestion}`;
}

/** Returns advice and unmet thresholds as GitHub workflow commands, which its runner shows as annotations. */
export function githubAnnotations({ advice }: Report, failures: readonly UnmetThreshold[]): string {
  const lines = [
    ...advice.map(
      ({ id, level, count, meaning, whatToDo }) =>
        `::${level === "note" ? "notice" : level} title=svc-sandbox ${id}::${annotationText(`${timesOf({ id, count })}: ${meaning} ${whatToDo}`)}`,
    ),
    ...failures.map(
      ({ threshold, sentence }) => `::error title=svc-sandbox ${threshold}::${annotationText(sentence)}`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

// A line break ends a command, and a percent sign starts an escape.
function annotationText(plain: string): string {
  return escapeControls(plain).replaceAll("%", "%25");
}

/** Returns the number of requests that caused an advice, or of lines of output. */
export function timesOf({ id, count }: { readonly id: string; readonly count: number }): string {
  return pluralize(count, id === "key-in-output" ? "line" : "request");
}
