import { commandLine, pluralize } from "../report/plain-text.js";
import type { ReportDocument, ReportFormat, Row, TestCase, Tone } from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import { redactEncoded, redactValue } from "../spec/redact.js";
import { snakeCase } from "../spec/schema/json.js";
import { execAgain } from "./brief.js";
import type { NextVerdict, Rehearsed } from "./next.js";

/** The effects of announced changes on a client. */
export interface Rehearsal {
  readonly scenario: string;
  /** The file or bundled name of the changes. */
  readonly next: string;
  readonly command: readonly string[];
  /** The intercepted hosts. */
  readonly intercept?: readonly string[] | undefined;
  /** `unusable`: without any change, the client fails or sends no request. */
  readonly verdict: "passed" | "failed" | "unclear" | "unusable";
  readonly runs: number;
  readonly changes: readonly Rehearsed[];
}

const tones: Readonly<Record<NextVerdict, Tone>> = {
  passes: "good",
  breaks: "bad",
  unclear: "warning",
  not_covered: "quiet",
};

/** Renders the calendar of announced changes for a client. */
export function renderCalendar(rehearsal: Rehearsal, format: ReportFormat, style?: TextStyle): string {
  return render(calendarOf(redactValue(rehearsal, redactEncoded)), format, style);
}

function calendarOf(rehearsal: Rehearsal): ReportDocument {
  const { scenario, next, command, verdict, runs, changes } = rehearsal;
  const again = (date = "") => execAgain([scenario, "--at", date, "--changes", next], rehearsal);
  const row = (one: Rehearsed): Row => ({
    cells: [one.dates.join(", "), one.ref, { text: textOf(one), tone: tones[one.verdict] }],
    details: [
      one.say === undefined ? [] : [one.say],
      one.lastRequest
        ? [`${one.lastRequest.pathId}, ${one.lastRequest.status || "no response"}, ${one.lastRequest.id}`]
        : [],
      one.breaksOn === undefined ? [] : [again(one.breaksOn)],
    ],
  });
  const details = ["announced", "last request", "see it again"];
  return {
    kind: "calendar",
    subject: next,
    title: `${commandLine(command)} in ${pluralize(runs, "run")} against ${scenario}, with the changes of ${next}`,
    sections: [
      { title: "Calendar", columns: ["date", "change", "verdict", ...details], rows: changes.map(row) },
    ],
    notes: [],
    conclusion: { text: conclusionOf(rehearsal), tone: verdict === "passed" ? "good" : "bad" },
    failures: [],
    suites: [{ name: "changes", cases: changes.map((one) => caseOf(one, again)) }],
    json: snakeCase({ svcSandboxCalendar: 1, ...rehearsal }) as object,
  };
}

/** As in "Breaks on 2027-06-01: relies on the code `rate_limited` of a 429; read the status." */
function textOf({ verdict, breaksOn, sentence, whatToDo }: Rehearsed): string {
  if (verdict === "passes") return "passes";
  if (verdict === "not_covered") return "not covered: the client gets no response that it changes";
  const start = verdict === "breaks" ? `Breaks on ${breaksOn}` : `Unclear on ${breaksOn}`;
  return `${start}: ${sentence}; ${whatToDo}.`;
}

function conclusionOf({ verdict, changes }: Rehearsal): string {
  const count = (wanted: NextVerdict) => changes.filter((one) => one.verdict === wanted).length;
  if (verdict === "unusable")
    return "Not rehearsed: the client must pass without any change, and send requests.";
  const of = pluralize(changes.length, "announced change");
  const counts = `${count("passes")} of ${of} pass, ${count("not_covered")} not covered, ${count("unclear")} unclear`;
  const [first] = changes
    .flatMap(({ breaksOn, verdict }) => (verdict === "breaks" ? (breaksOn ?? []) : []))
    .sort();
  return first === undefined
    ? `No change breaks the client: ${counts}.`
    : `The client breaks on ${first}: ${counts}.`;
}

function caseOf(one: Rehearsed, again: (date?: string) => string): TestCase {
  const name = `${one.dates[0]} ${one.ref}`;
  if (one.verdict === "passes") return { name, verdict: "passed" };
  if (one.verdict === "not_covered") return { name, verdict: "skipped", message: textOf(one) };
  return { name, verdict: "failed", message: textOf(one), output: again(one.breaksOn) };
}
