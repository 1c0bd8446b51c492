import { authorizationChecks } from "../api/authorize.js";
import { nextRequest, whatToDoAbout } from "../api/next-request.js";
import {
  checkResults,
  type RequestDetails,
  requestDetails,
  requestDetailsShape,
} from "../api/request-details.js";
import { outcomeRow } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import type { Endpoint } from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { fingerprintOfRef } from "../sandbox/secrets.js";
import { isReserved } from "../scenario/format/fields.js";
import * as s from "../schema/shape.js";
import { curlLine } from "./curl-line.js";
import { alignColumns } from "./plain-text.js";

export const explainedRequestShape = s.mapping({
  ...requestDetailsShape.fields,
  /** The request as a command for a shell with the environment of clients; `null` if it cannot be sent as it is. */
  curl: s.orNull(s.text()),
  /** All this as text, for people: what `explain <request id>` prints. */
  text: s.text(),
});

/** Everything about one request, with its two texts. */
export interface ExplainedRequest extends s.ValueOf<typeof explainedRequestShape> {}

/** A line of facts: what it is about, and what is known of it. */
type FactRow = readonly [name: string, value: string];

const checkResultWords = { passed: "passed", rejected: "rejected", not_reached: "not reached" };

/** Everything about a request of the journal, also as text and as a command. Contains no secret. */
export function explainRequest(sandbox: SandboxState, id: string): ExplainedRequest {
  const details = requestDetails(sandbox, id);
  const { curlOptions } = sandbox.invocation;
  const options = curlOptions === "" ? "-i" : `-i ${curlOptions}`;
  const curl = details.repeat && curlLine(details.repeat, options, details.outcome);
  return { ...details, curl, text: requestText(details) };
}

/** A request as text, for a terminal and for support: its checks, the cause and what to do. */
function requestText(details: RequestDetails): string {
  const { fault, sent, around } = details;

  // What was sent, and what came of it.
  let key = "none";
  if (details.key !== null) key = details.key;
  else if (details.fingerprint !== null) key = `unknown, fingerprint ${details.fingerprint}`;
  if (sent.keyForm !== null) key += `; ${sent.keyForm}`;

  const facts: FactRow[] = [["Key", key], ...Object.entries(sent.headers), ...responseFacts(details)];
  if (fault !== null && fault !== details.outcome) facts.push(["Fault", fault]);
  for (const advice of details.adviceDetails) {
    facts.push(["Advice", `${advice.level} ${advice.id}: ${advice.meaning} ${advice.whatToDo}`]);
  }

  const lines = [`${details.method} ${details.path} at ${details.at}, ${details.id}`, ""];
  lines.push(...checkLines(details.checks), "");
  lines.push(...alignColumns(facts));
  if (around.length > 1) {
    lines.push("", "Requests with this key");
    for (const neighbor of around) lines.push(neighborLine(neighbor, details));
  }
  return lines.join("\n");
}

/**
 * Explains what the next request with a key gets, and why, also as text. Its ref may also be `none`, `malformed` or `unknown`.
 * Counts nothing, and contains no secret.
 */
export function explainKey(sandbox: SandboxState, ref: string, endpoint: Endpoint) {
  const next = nextRequest(sandbox, ref, endpoint);
  const { status, code, outcome, why, faultOutcomes } = next;
  const explained = {
    key: isReserved(ref) ? null : ref,
    fingerprint: fingerprintOfRef(sandbox, ref),
    method: endpoint.method,
    path: endpoint.path,
    at: isoTime(sandbox.clock.now()),
    checks: checkResults(outcome, authorizationChecks),
    status,
    code,
    outcome,
    faultOutcomes,
    when: outcomeRow(outcome).when,
    why,
    whatToDo: whatToDoAbout(outcome, next),
  };

  let key = `the key ${ref}`;
  if (ref === "none") key = "no key";
  else if (isReserved(ref)) key = `a key that is ${ref}`;
  const facts = responseFacts(explained);
  const faults = faultOutcomes.join(", ");
  if (faults !== "") facts.push(["Faults", `${faults} may replace this response`]);
  const lines = [
    `${explained.method} ${explained.path} with ${key}, scenario ${sandbox.name}, at ${explained.at}`,
    "",
    ...checkLines(explained.checks),
    "",
    ...alignColumns(facts),
  ];
  return { ...explained, text: lines.join("\n") };
}

/** The results of checks in order, one a line. */
function checkLines(checks: RequestDetails["checks"]): string[] {
  const rows = checks.map(({ name, question, result }) => [checkResultWords[result], name, question]);
  return alignColumns(rows).map((line) => `  ${line}`);
}

/** The response, its cause, and what to do. */
function responseFacts(
  explained: Pick<RequestDetails, "status" | "code" | "outcome" | "when" | "why" | "whatToDo">,
): FactRow[] {
  const { status, code, outcome, when, why, whatToDo } = explained;

  let response = "none";
  if (status !== 0) response = code === null ? String(status) : `${status} ${code}`;

  const facts: FactRow[] = [["Response", `${response}  ${outcome}  (${when})`]];
  if (why !== null) facts.push(["Why", why]);
  facts.push(["What to do", whatToDo]);
  return facts;
}

/** A request with the same key, with its time from the explained one. */
function neighborLine(
  neighbor: RequestDetails["around"][number],
  explained: Pick<RequestDetails, "id" | "at">,
): string {
  const milliseconds = Date.parse(neighbor.at) - Date.parse(explained.at);
  // `-0.0 s` is none: a request up to 50 ms before has `+0.0 s`, as one after it.
  const tenths = Math.round(milliseconds / 100);
  const sign = tenths < 0 ? "-" : "+";
  const seconds = `${sign}${(Math.abs(tenths) / 10).toFixed(1)} s`;
  const when = neighbor.id === explained.id ? "this one" : seconds;
  return `  ${when.padStart(9)}  ${neighbor.outcome}  ${neighbor.id}`;
}
