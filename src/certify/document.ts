import { commandLine, pluralize } from "../report/plain-text.js";
import type { ReportDocument, ReportFormat, Section, TableRow, Tone } from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import { groupsOf } from "../report/report.js";
import { conclusion, reportDocument } from "../report/report-document.js";
import { snakeCase } from "../rules/schema/json.js";
import {
  breakAgain,
  documentText,
  endlessResend,
  failuresByReason,
  failuresOf,
  lastOutput,
  lastRequestOf,
  outcomeText,
  runAgain,
  type Seen,
} from "./brief.js";
import { kindsWithoutEvidence } from "./plan.js";
import { mustNotice, noticedSentence, notTriedSentence, whyTooLittle } from "./promises.js";
import {
  type Certificate,
  type CertifyResult,
  type CertifyVerdict,
  certificateOf,
  type PromiseRun,
  type RetryResult,
  type Run,
  type RunOutcome,
} from "./result.js";

/** Renders a certificate; with `seen`, JSON contains everything that the text shows. */
export function renderCertificate(
  result: CertifyResult,
  format: ReportFormat,
  style?: TextStyle,
  seen?: Seen,
): string {
  const certificate = certificateOf(result);
  const document = certificateDocument(certificate, seen);
  if (seen !== undefined) {
    const { conclusion } = document;
    const { hint } = seen;
    const failed = failuresOf(certificate.result, conclusion.text, seen);
    const { failures } = snakeCase({ failures: failed }) as { failures: object };
    const json = { ...document.json, conclusion: conclusion.text, ...(hint && { hint }), failures };
    if (format === "json") return render({ ...document, json }, format);
  }
  if (format !== "text") return render(document, format, style);
  const isSeen = result.runs[0]?.outcome === "passed";
  // The sentence names the keys to send. A report of a client that sends too few would hide it.
  const isTooLittle = result.verdict === "unusable" && whyTooLittle(result.report) !== undefined;
  if (isTooLittle && isSeen && seen !== undefined) {
    const notes = ["The whole report is in --format markdown and json."];
    return render({ ...document, sections: [], notes }, format, style);
  }
  // A terminal shows the end of the text.
  const atEnd = ["promises", "causes"].flatMap((id) => document.sections.filter((one) => one.id === id));
  const others = document.sections.filter((one) => !atEnd.includes(one) && (isSeen || one.id === "runs"));
  return render({ ...document, sections: [...others, ...atEnd] }, format, style);
}

const toneOf: Readonly<Record<RunOutcome | RetryResult["outcome"] | CertifyVerdict, Tone>> = {
  passed: "good",
  failed: "bad",
  timed_out: "bad",
  flaky: "bad",
  not_run: "quiet",
  not_tried: "warning",
  unusable: "bad",
};

type Shown = CertifyResult & Seen;

function certificateDocument({ result, json }: Certificate, seen?: Seen): ReportDocument {
  const { runs, report, verdict, scenario, command, promises, unmet } = result;
  const ofReport = reportDocument(report, unmet);
  const broken = promises.runs.length === 0 ? "" : `, and ${promises.runs.length} with a broken promise,`;
  return {
    kind: "certificate",
    subject: scenario,
    title: `${commandLine(command)} in ${pluralize(runs.length, "run")}${broken} against ${scenario}`,
    sections: sectionsOf({ ...result, ...seen }, ofReport.sections),
    notes: [],
    conclusion: { text: certificateConclusion(result), tone: toneOf[verdict] },
    failures: ofReport.failures,
    json,
  };
}

function sectionsOf(shown: Shown, ofReport: readonly Section[]): Section[] {
  const { outputOf, runs, promises, retries = [], notTried } = shown;
  const unnoticed = promises.runs.filter(({ outcome }) => outcome === "not_noticed");
  return [
    {
      id: "causes",
      title: "Causes",
      columns: [...causeColumns, ...(outputOf === undefined ? [] : ["its last output"])],
      rows: causesOf(shown),
    },
    {
      id: "promises",
      title: "Promises",
      columns: ["not noticed", "promise", "what users lose", "see it again"],
      rows: unnoticed.map((run) => promiseRow(run, shown)),
    },
    {
      id: "runs",
      title: "Runs",
      columns: ["run", "outcome", "exit", "requests", "coverage", "time"],
      rows: runRows(runs),
    },
    ...ofReport,
    {
      title: "Retries",
      columns: ["after", "result", "what the client did", "what to do"],
      rows: retries.filter(({ outcome }) => outcome !== "not_tried").map(retryRow),
    },
    {
      title: "Not tried",
      columns: ["what", "why", "what to do"],
      rows: groupsOf(notTried, ({ why, whatToDo }) => `${why}\n${whatToDo}`).map((group) => {
        const [{ why, whatToDo }] = group;
        return { cells: [group.map(({ what }) => what).join(", ")], details: [[why], [whatToDo]] };
      }),
    },
    { title: "Certificate", columns: ["what", "value"], rows: factsOf(shown) },
  ];
}

function retryRow({ after, outcome, sentence, whatToDo }: RetryResult): TableRow {
  return {
    cells: [after, { text: outcome, tone: toneOf[outcome] }, sentence],
    details: whatToDo === undefined ? [] : [[whatToDo]],
  };
}

function certificateConclusion(result: CertifyResult): string {
  const { verdict, runs, report, promises, unmet } = result;
  const count = (...wanted: RunOutcome[]) => runs.filter(({ outcome }) => wanted.includes(outcome)).length;
  const of = `of ${pluralize(runs.length, "run")}`;
  const shown = [notTriedSentence(result), noticedSentence(promises), conclusion(report)]
    .filter(Boolean)
    .join(" ");
  if (verdict === "unusable") return `Not certified: ${whyUnusable(result)}.`;
  if (verdict === "flaky") {
    return `Flaky: ${count("flaky")} ${of} passed once and failed once, although the sandbox behaved the same both times. ${shown}`;
  }
  const failed = count("failed", "timed_out");
  const missed = `${pluralize(unmet.length, "threshold")} ${unmet.length === 1 ? "was" : "were"} not reached`;
  if (verdict === "failed" && failed === 0 && count("not_run", "flaky") === 0) {
    const all =
      count("passed") === runs.length ? `all ${pluralize(runs.length, "run")}` : `${count("passed")} ${of}`;
    return `Not passed: ${all} passed, but ${missed}. ${shown}`;
  }
  if (verdict === "failed")
    return `Failed: ${failed} ${of}${unmet.length === 0 ? "" : `, ${missed}`}. ${shown}`;
  return `Passed: ${count("passed")} ${of}. ${shown}`;
}

function whyUnusable({ runs, promises, report }: CertifyResult): string {
  const [baseline] = runs;
  if (baseline === undefined || baseline.outcome === "not_run") return "the command could not be run";
  if (baseline.outcome !== "passed") {
    const endless = endlessResend(report);
    const late = `does not end in time${endless === undefined ? "" : `: it ${endless}`}`;
    const what = baseline.outcome === "timed_out" ? late : outcomeText(baseline);
    return `the command ${what} in the run ${baseline.name}, the baseline`;
  }
  if (report.requests === 0) return "the command never called the API";
  const tooLittle = whyTooLittle(report);
  if (tooLittle !== undefined) return tooLittle;
  const all = [...runs, ...promises.runs];
  const left = all.filter(({ outcome }) => outcome === "not_run").length;
  const [[kind, reason] = []] = kindsWithoutEvidence({ runs, promises });
  if (left > 0 || reason === undefined) return `${pluralize(left, "run")} of ${all.length} were not made`;
  return `no run of \`${kind}\` shows anything, because ${reason.why}`;
}

const causeColumns = ["what breaks the client", "what to do", "runs", "last request", "see it again"];

// Runs that fail for the same reason share a row.
function causesOf(shown: Shown): TableRow[] {
  return failuresByReason(shown.runs).map((runs) => {
    const [run] = runs;
    const { cause, name, outcome } = run;
    return {
      cells: [{ text: cause?.sentence ?? `${name} ${outcomeText(run)}`, tone: toneOf[outcome] }],
      details: [
        cause?.whatToDo ?? [],
        [runs.map(({ name }) => name).join(", ")],
        runs.flatMap(lastRequestOf).slice(0, 1),
        [runAgain(run, shown)],
        ...(shown.outputOf === undefined ? [] : [lastOutput(shown.outputOf(run))]),
      ],
    };
  });
}

function runRows(runs: readonly Run[]): TableRow[] {
  const rows = runs.filter(({ outcome }) => outcome !== "not_run").map(runRow);
  const [first, ...others] = runs.filter(({ outcome }) => outcome === "not_run");
  if (first === undefined) return rows;
  const name = others.length === 0 ? first.name : `${first.name} and ${others.length} more`;
  return [...rows, { cells: [name, { text: "not run", tone: toneOf.not_run }, "", "", "", ""] }];
}

function runRow(run: Run): TableRow {
  const { name, outcome, code, requests, percent, durationMs } = run;
  const text = outcome.replace("_", " ");
  // The text format shows no column names.
  const exit = code === null ? "-" : `exit ${code}`;
  const cells = [exit, pluralize(requests, "request"), `${percent}%`, seconds(durationMs)];
  return { cells: [name, { text, tone: toneOf[outcome] }, ...cells] };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function promiseRow(run: PromiseRun, shown: Shown): TableRow {
  const { id, sentence, loss, code } = run;
  const end = code === null ? ["the run did not end in time, which is not noticed"] : [];
  return {
    cells: [{ text: sentence, tone: mustNotice(shown.gates, run) ? "bad" : "warning" }, id],
    details: [[loss, ...end], [breakAgain(run, shown)]],
  };
}

function factsOf(result: CertifyResult): TableRow[] {
  const { seeds, faults, durationMs, promises, gates } = result;
  const gatesAsFlags = Object.entries(snakeCase(gates) as object).map(
    ([name, value]) => `--${name.replaceAll("_", "-")} ${value}`,
  );
  const facts: [string, string | undefined][] = [
    ["verdict", result.verdict],
    ["command", commandLine(result.command, 2_000)],
    ["scenario", [result.scenario, ...(result.otherScenarios ?? [])].join(", ")],
    ["document", result.document && documentText(result.document)],
    ["seeds", seeds.join(", ")],
    ["faults", faults.join(", ")],
    ["promises", promises.kinds],
    ["thresholds", gatesAsFlags.join(" ")],
    ["specification", result.specification],
    ["svc-sandbox", result.sandbox],
    ["started", result.startedAt],
    ["took", seconds(durationMs)],
  ];
  return facts.flatMap(([what, value]) => (value ? [{ cells: [what, value] }] : []));
}
