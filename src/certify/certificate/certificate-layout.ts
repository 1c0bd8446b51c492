import { commandLine } from "../../report/curl-line.js";
import type { ReportLayout, TableRow, Tone } from "../../report/render/layout.js";
import { nameOf } from "../checks/check.js";
import {
  isProblemOf,
  type JudgedCheck,
  type Note,
  type Reason,
  type ResultOfCheck,
} from "../checks/judgment.js";
import { type CertifyResult, certificateJson } from "./certificate.js";
import { againLine, conclusionLine, type Program } from "./certificate-words.js";

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

/** The row of a check: its details have an entry for each problem that it is part of, or the reason why it is not judged. */
function checkRow(
  { check, result }: JudgedCheck,
  { problems, command }: CertifyResult,
  program: Program,
): TableRow {
  const name = nameOf(check);
  const cells = [name, resultCells[result.kind]];
  const sentences: string[] = [];
  const fixes: string[] = [];
  const lastLines: string[] = [];
  const again: string[] = [];
  for (const problem of problems) {
    if (!isProblemOf(problem, check)) continue;
    const { sentence, whatToDo, lastLine } = problem;
    // A sentence is about one run: another one may have another variant, or another fault.
    sentences.push(problem.name === name ? sentence : `As ${problem.name}: ${sentence}`);
    fixes.push(whatToDo);
    if (lastLine !== undefined) lastLines.push(lastLine);
    again.push(againLine(problem, command, program));
  }
  const [message] = sentences;
  if (message !== undefined) {
    const why = sentences.map((sentence) => `${sentence}.`);
    return { cells, details: [why, fixes, lastLines, again], message };
  }
  if (result.kind !== "not_judged") return { cells, details: [[]] };

  const text = reasonSentence(result.reason);
  return { cells, details: [[text]], message: text };
}

function reasonSentence({ why, whatToDo }: Reason): string {
  return `${why}. ${whatToDo}`;
}
