import { type RequestDetails, requestDetails } from "../api/request-details.js";
import { mePath } from "../rules/outcomes.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { curlLine } from "./how-to-cover.js";
import { alignColumns } from "./plain-text.js";

type FactRow = readonly [name: string, value: string];

/** Everything about a request of the journal, also as text and as a command. Contains no secret. */
export function explainRequest(sandbox: SandboxState, id: string): RequestDetails {
  const details = requestDetails(sandbox, id);
  const { key: ref, method, path = mePath } = details.repeat;
  const curl = curlLine({ ref, method, path }, "-i --globoff --path-as-is", details.outcome);
  return { ...details, curl, text: requestText(details) };
}

/** A request as text, for a terminal and for support: its checks, the cause and what to do. */
function requestText(details: ReturnType<typeof requestDetails>): string {
  const { id, method, path, at, key, fingerprint, outcome, fault, sent, adviceDetails, around } = details;
  const { keyForm } = sent;
  const subject = key ?? (fingerprint === null ? "none" : `unknown, fingerprint ${fingerprint}`);
  const facts: FactRow[] = [
    ["Key", keyForm === null ? subject : `${subject}; ${keyForm}`],
    ...Object.entries(sent.headers),
    ...responseFacts(details),
    ...(fault === null || fault === outcome ? [] : [["Fault", fault] as const]),
    ...adviceDetails.map((one): FactRow => {
      return ["Advice", `${one.level} ${one.id}: ${one.meaning} ${one.whatToDo}`];
    }),
  ];
  const neighborLines = ["", "Requests with this key", ...around.map((one) => neighborLine(one, details))];
  return [
    `${method} ${path} at ${at}, ${id}`,
    "",
    ...checkLines(details.checks),
    "",
    ...alignColumns(facts),
    ...(around.length < 2 ? [] : neighborLines),
  ].join("\n");
}

type RequestCheckResult = Pick<RequestDetails["checks"][number], "name" | "question" | "result">;

const checkResultWords = { passed: "passed", rejected: "rejected", not_reached: "not reached" };

/** The results of checks in order, one a line. */
export function checkLines(checks: readonly RequestCheckResult[]): string[] {
  const rows = checks.map(({ name, question, result }) => [checkResultWords[result], name, question]);
  return alignColumns(rows).map((line) => `  ${line}`);
}

type Explained = Pick<RequestDetails, "status" | "code" | "outcome" | "when" | "why" | "whatToDo">;

/** The response, its cause, and what to do. */
export function responseFacts({ status, code, outcome, when, why, whatToDo }: Explained): FactRow[] {
  const response = status === 0 ? "none" : [status, code].filter((part) => part !== null).join(" ");
  return [
    ["Response", `${response}  ${outcome}  (${when})`],
    ...(why === null ? [] : [["Why", why] as const]),
    ["What to do", whatToDo],
  ];
}

function neighborLine(
  { id, at, outcome }: RequestDetails["around"][number],
  one: Pick<RequestDetails, "id" | "at">,
): string {
  const seconds = (Date.parse(at) - Date.parse(one.at)) / 1000;
  const when = id === one.id ? "this one" : `${seconds < 0 ? "" : "+"}${seconds.toFixed(1)} s`;
  return `  ${when.padStart(9)}  ${outcome}  ${id}`;
}
