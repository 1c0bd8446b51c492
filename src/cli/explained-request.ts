import type { requestDetailsShape } from "../api/request-details.js";
import { alignColumns } from "../report/plain-text.js";
import type { requestShape } from "../sandbox/view-shapes.js";
import type { InJson } from "../spec/schema/json.js";
import type { ValueOf } from "../spec/schema/shape.js";
import { checkLines, paintStatus, responseText, type Style } from "./terminal.js";

export type JournalRequest = InJson<ValueOf<typeof requestShape>>;
export type JournalDetails = InJson<ValueOf<typeof requestDetailsShape>>;

/** The form of a request id, in every profile. */
const requestId =
  /^(?:req_[0-9a-z]{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|1-[0-9a-f]{8}-[0-9a-f]{24}|gw:.*)$/i;

/** Whether a word of the command line is about a request of a running sandbox, and never a key. */
export function isAboutRequest(word: string): boolean {
  return word === "last" || requestId.test(word);
}

/** The requests with the same key around one, itself included: at most three before it and five after it. */
export function retriesOf(id: string, all: readonly JournalRequest[]): readonly JournalRequest[] {
  const { fingerprint } = all.find((one) => one.id === id) ?? {};
  const same = all.filter(
    (one) => one.id === id || (one.fingerprint === fingerprint && one.source === "client"),
  );
  const at = same.findIndex((one) => one.id === id);
  return same.slice(Math.max(0, at - 3), at + 6);
}

/** The lines about a request: its checks, cause, fault, advice, what to do, and the requests with its key around it. */
export function requestLines(
  details: JournalDetails,
  around: readonly JournalRequest[],
  style: Style,
): string[] {
  const { palette } = style;
  const { id, method, path, at, key, fingerprint, status, path_id, fault, sent } = details;
  const subject = key ?? (fingerprint === null ? "none" : `unknown, fingerprint ${fingerprint}`);
  const { headers, key_form: form } = sent;
  const response = status === 0 ? "none" : paintStatus(palette, status)(responseText(details));
  const facts = [
    ["Key", form === null ? subject : `${subject}; ${form}`],
    ...Object.entries(headers).map(([name, value]) => [name, value]),
    ["Response", `${response}  ${path_id}  (${details.note ?? details.when})`],
    ...(details.why === null ? [] : [["Why", details.why]]),
    ...(fault === null || fault === path_id ? [] : [["Fault", fault]]),
    ["What to do", details.what_to_do],
    ...details.advice_details.map(({ level, id, meaning, what_to_do }) => [
      "Advice",
      `${level} ${id}: ${meaning} ${what_to_do}`,
    ]),
  ];
  return [
    `${method} ${path} at ${at}, ${id}`,
    "",
    ...checkLines(details.checks, style),
    "",
    ...alignColumns(facts),
    ...(around.length < 2
      ? []
      : ["", "Requests with this key", ...around.map((one) => retryLine(one, details))]),
  ];
}

function retryLine(one: JournalRequest, { id, at }: JournalDetails): string {
  const seconds = (Date.parse(one.at) - Date.parse(at)) / 1000;
  const when = one.id === id ? "this one" : `${seconds < 0 ? "" : "+"}${seconds.toFixed(1)} s`;
  return `  ${when.padStart(9)}  ${one.path_id}  ${one.id}`;
}
