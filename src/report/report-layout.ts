import type { AdviceLevel } from "../rules/advice.js";
import { isSuccess } from "../rules/outcomes.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import { listed } from "../schema/words.js";
import { pluralize } from "./plain-text.js";
import type { Cell, ReportFormat, ReportLayout, Section, TableRow, Tone } from "./render/layout.js";
import type { TextStyle } from "./render/render.js";
import { render } from "./render/render.js";
import type { Report, ReportedAdvice, ReportedOutcome } from "./report-shape.js";

const toneOfLevel: Readonly<Record<AdviceLevel, Tone>> = { error: "bad", warning: "warning", note: "quiet" };

interface RenderOptions extends TextStyle {
  /** The sentences of the thresholds that the report does not reach. Default: none. */
  readonly failures?: readonly string[];
  /** Why no request may have come, as a sentence. */
  readonly hint?: string | undefined;
  /** The command of `certify` for a client that covers everything. */
  readonly certifyCommand?: string | undefined;
}

export function renderReport(report: Report, format: ReportFormat, options: RenderOptions = {}): string {
  return render(reportLayout(report, options), format, options);
}

/** The result in one line: the coverage, and how much advice there is. */
export function conclusion(report: Report): string {
  const { coverage, announced, faults } = report;
  const { percent, covered, promised } = coverage;
  const share = `Coverage ${percent}%: ${covered} of ${promised} promised outcomes covered`;

  const countOf = (level: AdviceLevel) => report.advice.filter((row) => row.level === level).length;
  const errors = countOf("error");
  const warnings = countOf("warning");
  const notes = countOf("note");
  const counts: string[] = [];
  if (errors > 0) counts.push(pluralize(errors, "error"));
  if (warnings > 0) counts.push(pluralize(warnings, "warning"));
  const hasAdvice = counts.length > 0;
  const advised = hasAdvice ? `Advice: ${counts.join(", ")}` : "No advice";

  // A client that never called may still have printed a key.
  if (report.requests === 0) {
    const sentences = ["The client never called the API", share];
    if (hasAdvice) sentences.push(advised);
    return `${sentences.join(". ")}.`;
  }

  const sentences = [share];
  if (announced.total > 0) {
    sentences.push(`Announced endpoints: ${announced.covered} of ${announced.total} covered`);
  }
  if (faults.covered > 0) {
    sentences.push(`Faults: ${faults.covered} of ${faults.total} covered`);
  }
  sentences.push(notes === 0 ? advised : `${advised}; ${pluralize(notes, "note")}`);
  return `${sentences.join(". ")}.`;
}

function reportLayout(report: Report, options: RenderOptions): ReportLayout {
  const { requests, unread, coverage } = report;
  const { failures = [], hint, certifyCommand } = options;

  const notes: string[] = [];
  if (unread > 0) {
    notes.push(
      `The client closed the connection before ${pluralize(unread, "delayed response")} arrived. The outcomes count as covered, but the client has not seen these responses. Is its timeout shorter than the fault's latency on purpose?`,
    );
  }
  if (coverage.percent === 100) {
    const whole = "Every promised outcome is covered.";
    notes.push(certifyCommand === undefined ? whole : `${whole} Next: ${certifyCommand}`);
  }

  let tone: Tone | undefined;
  if (requests === 0) tone = "warning";
  else if (coverage.percent === 100 && !report.advice.some(requiresChange)) tone = "good";

  const sections = sectionsOfAdvice(report);
  // A client that never called needs no other table, but may have printed a key.
  if (requests > 0) {
    sections.unshift(outcomesSection(report), endpointsSection(report), resendsSection(report));
  }

  const text = conclusion(report);
  // Other formats get the hint from their command, on stderr.
  const jsonNotes = requests === 0 && hint !== undefined ? [...notes, hint] : notes;
  return {
    kind: "report",
    subject: report.scenario,
    title: reportTitle(report),
    sections,
    notes,
    conclusion: { text, tone },
    failures,
    json: { ...(membersToSnakeCase(report) as object), conclusion: text, notes: jsonNotes, failures },
  };
}

function resendsSection({ resends }: Report): Section {
  const rows = resends.map(({ outcome, key, fingerprint, count }): TableRow => {
    return { cells: [outcome, key ?? fingerprint ?? "", String(count)] };
  });
  return { title: "Resent after a rejection", columns: ["outcome", "key", "requests"], rows };
}

/** The advice to follow, then the notes. */
function sectionsOfAdvice(report: Report): Section[] {
  const toFollow: TableRow[] = [];
  const onlyToKnow: TableRow[] = [];
  for (const advice of report.advice) {
    const row = adviceRow(advice);
    if (requiresChange(advice)) toFollow.push(row);
    else onlyToKnow.push(row);
  }

  const columns = ["level", "advice", "how often", "rule", "what happened", "what to do", "requests"];
  return [
    { title: "Advice", columns, rows: toFollow },
    { title: "Notes", columns, rows: onlyToKnow },
  ];
}

/** Whether advice is more than a note, which only informs. */
function requiresChange({ level }: ReportedAdvice): boolean {
  return level !== "note";
}

/** The outcomes that the client can be expected to cover, and others that it has covered. */
function outcomesSection(report: Report): Section {
  const listedRows = report.outcomes.filter(({ promised, covered, outcome }) => {
    return promised || covered || isSuccess(outcome);
  });
  return {
    title: "Outcomes",
    columns: ["outcome", "requests", "when, and how to cover it"],
    rows: listedRows.map(outcomeTableRow),
  };
}

function outcomeTableRow(row: ReportedOutcome): TableRow {
  const { outcome, promised, covered, count, howToCover } = row;

  // A covered outcome that is not promised shows nothing good or bad.
  let tone: Tone | undefined;
  if (promised) tone = covered ? "good" : "warning";
  const requests = { text: count > 0 ? String(count) : "-", tone };

  let when = row.when;
  // Of the successes, only those of announced endpoints are not promised. Of the others, those of faults, for example.
  if (!promised) when += isSuccess(outcome) ? " (announced)" : " (not promised)";
  if (howToCover !== null) when += `: ${howToCover.text}`;
  return { cells: [outcome, requests, when] };
}

function endpointsSection({ endpoints }: Report): Section {
  const rows = endpoints.map(({ method, path, operationId, release, requests, covered }): TableRow => {
    const coverage: Cell = covered
      ? { text: "covered", tone: "good" }
      : { text: "not covered", tone: "warning" };
    const count = requests > 0 ? String(requests) : "-";
    return { cells: [`${method} ${path}`, coverage, count, operationId, release] };
  });
  return {
    title: "Endpoints",
    columns: ["endpoint", "coverage", "requests", "operation id", "release"],
    // The table of outcomes shows everything about the only endpoint.
    rows: endpoints.length === 1 ? [] : rows,
  };
}

/** How many requests came, and to which sandboxes. */
function reportTitle(report: Report): string {
  const total = pluralize(report.requests, "request");
  const { runs } = report;
  if (runs === undefined) return `${total} to ${sandboxText(report)}`;

  const sandboxes = new Set(runs.map(sandboxText));
  return `${total} in ${pluralize(runs.length, "run")}, to ${[...sandboxes].join(", ")}`;
}

function sandboxText(run: Pick<Report, "scenario" | "seed" | "profile" | "pinned">): string {
  const { scenario, seed, profile, pinned } = run;
  const exceptions = pinned.length === 0 ? "" : ` with its own ${listed(pinned, "and")}`;
  return `${scenario} (seed ${seed}, profile ${profile}${exceptions})`;
}

function adviceRow(advice: ReportedAdvice): TableRow {
  const { id, level, rule, count, examples } = advice;

  // Runs with the same seed send equal requests.
  const lines: string[] = [];
  for (const { id: requestId, at, method, path, key, fingerprint, didYouMean } of examples) {
    const sent = `${at} ${method} ${path}, ${key ?? fingerprint ?? "none"}, ${requestId}`;
    const line = didYouMean === null ? sent : `${sent}, did you mean ${didYouMean}?`;
    if (!lines.includes(line)) lines.push(line);
  }
  const more = count - examples.length;
  if (examples.length > 0 && more > 0) lines.push(`and ${more} more`);

  return {
    cells: [{ text: level, tone: toneOfLevel[level] }, id, adviceCount(advice), rule],
    details: [[advice.meaning], [advice.whatToDo], lines],
  };
}

/** How often something led to an advice: `2 requests`, or `1 line` of output. */
export function adviceCount({ id, count }: { readonly id: string; readonly count: number }): string {
  return pluralize(count, id === "key-in-output" ? "line" : "request");
}
