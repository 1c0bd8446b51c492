import { commandLine } from "../../report/curl-line.js";
import type { ReportLayout, TableRow, Tone } from "../../report/render/layout.js";
import { nameOf } from "../checks/check.js";
import type { Finding, JudgedCheck, Note, Reason, ResultOfCheck } from "../checks/judgment.js";
import { againLine, type Program } from "./again-line.js";
import { type CertifyResult, certificateJson } from "./certificate.js";
import { conclusionLine, isProblemOf } from "./conclusion.js";

/** The result of a check in words, and how a renderer colors it. */
const resultCells: Readonly<Record<ResultOfCheck["kind"], { readonly text: string; readonly tone: Tone }>> = {
  held: { text: "held", tone: "good" },
  failed: { text: "failed", tone: "bad" },
  not_judged: { text: "not judged", tone: "quiet" },
  allowed: { text: "allowed", tone: "quiet" },
};

/** The cells of a row fill the first two columns, and its details the others, in this order. */
const checkColumns = ["what", "result", "why", "fix", "its last line", "again"];

/** The certificate as JSON and JUnit lay it out; `certificateText` prints it for people. */
export function certificateLayout(certified: CertifyResult, program: Program = {}): ReportLayout {
  const { verdict, notes, scenario, command, durationMs } = certified;
  const checkRows = certified.checks.map((judged) => checkRow(judged, certified, program));
  const noteRows = notes.map(noteRow);

  let tone: Tone = "bad";
  if (verdict === "passed") tone = "good";
  if (verdict === "stopped") tone = "broken";
  return {
    kind: "certificate",
    subject: scenario,
    title: `Certificate of ${commandLine(command)}`,
    sections: [
      { title: "Checks", columns: checkColumns, rows: checkRows },
      { title: "Notes", columns: ["what", "result", "why"], rows: noteRows },
    ],
    notes: [],
    conclusion: { text: conclusionLine(certified), tone },
    failures: [],
    durationMs,
    json: certificateJson(certified),
  };
}

function noteRow(note: Note): TableRow {
  const text = reasonSentence(note);
  return { cells: [note.what, resultCells.not_judged], details: [[text]], message: text };
}

/** The row of a check: with the details of the problems that it is part of, or with the reason why it is not judged. */
function checkRow(
  { check, result }: JudgedCheck,
  { problems, command }: CertifyResult,
  program: Program,
): TableRow {
  const name = nameOf(check);
  const cells = [name, resultCells[result.kind]];
  const problemsOfCheck = problems.filter((problem) => isProblemOf(problem, check));
  const [first] = problemsOfCheck;
  if (first !== undefined) {
    const details = problemDetails(problemsOfCheck, name, command, program);
    return { cells, details, message: problemSentence(first, name) };
  }
  if (result.kind !== "not_judged") return { cells, details: [[]] };

  const text = reasonSentence(result.reason);
  return { cells, details: [[text]], message: text };
}

function reasonSentence({ why, whatToDo }: Reason): string {
  return `${why}. ${whatToDo}`;
}

/** The sentence of a problem, which is about one run, in the row of this check: another run may have another variant, or another fault. */
function problemSentence({ name, sentence }: Finding, checkName: string): string {
  return name === checkName ? sentence : `As ${name}: ${sentence}`;
}

/** The columns `why`, `fix`, `its last line` and `again` of a check, each with an entry of each problem that the check is part of. */
function problemDetails(
  problems: readonly Finding[],
  checkName: string,
  command: readonly string[],
  program: Program,
): string[][] {
  const why: string[] = [];
  const fix: string[] = [];
  const itsLastLine: string[] = [];
  const again: string[] = [];
  for (const problem of problems) {
    why.push(`${problemSentence(problem, checkName)}.`);
    fix.push(problem.whatToDo);
    if (problem.lastLine !== undefined) itsLastLine.push(problem.lastLine);
    again.push(againLine(problem, command, program));
  }
  return [why, fix, itsLastLine, again];
}
