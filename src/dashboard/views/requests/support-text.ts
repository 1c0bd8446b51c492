import { requests } from "../../control/live-requests.js";
import type { Shown } from "../../control/responses.js";

/** The requests with the same key around one, itself included: at most three before it and five after it. */
export function requestsAround({ id, fingerprint }: Shown<"RequestDetails">): readonly Shown<"Request">[] {
  const same = requests.value.filter(
    (one) => one.id === id || (one.fingerprint === fingerprint && one.source === "client"),
  );
  const at = same.findIndex((one) => one.id === id);
  return at === -1 ? [] : same.slice(Math.max(0, at - 3), at + 6);
}

export function secondsText(at: string, since: string): string {
  const seconds = (Date.parse(at) - Date.parse(since)) / 1000;
  return `${seconds < 0 ? "" : "+"}${seconds.toFixed(1)} s`;
}

/** What the checks of a request found, in words. */
const resultWords = { passed: "passed", rejected: "rejected", not_reached: "not reached" };

/** Why a request ended where it did. */
export function causeText({
  path_id,
  key_scopes,
  required_scope,
  note,
  when,
}: Shown<"RequestDetails">): string {
  if (path_id !== "403.insufficient_scope" || key_scopes === null) return note ?? when;
  return `needs ${required_scope}, this key has ${key_scopes.join(" ") || "none"}`;
}

/** A request as text, with the parts of `explain <request id>` in the same order. It contains no secret. */
export function supportText(request: Shown<"RequestDetails">, around: readonly Shown<"Request">[]): string {
  const { id, method, path, at, key, fingerprint, status, path_id, fault, sent } = request;
  const subject = key ?? (fingerprint === null ? "none" : `unknown, fingerprint ${fingerprint}`);
  const facts = [
    ["Key", sent.key_form === null ? subject : `${subject}; ${sent.key_form}`],
    ...Object.entries(sent.headers),
    ["Response", `${status === 0 ? "none" : status} ${path_id} (${request.note ?? request.when})`],
    ...(request.why === null ? [] : [["Why", request.why]]),
    ...(fault === null || fault === path_id ? [] : [["Fault", fault]]),
    ["What to do", request.what_to_do],
    ...request.advice_details.map((one) => [
      "Advice",
      `${one.level} ${one.id}: ${one.meaning} ${one.what_to_do}`,
    ]),
  ];
  return [
    `${method} ${path} at ${at}, ${id}`,
    "",
    ...request.checks.map(({ name, result }) => `${resultWords[result]}: ${name}`),
    "",
    ...facts.map(([name, value]) => `${name}: ${value}`),
    ...(around.length < 2
      ? []
      : [
          "",
          "Requests with this key",
          ...around.map(
            (one) => `${one.id === id ? "this one" : secondsText(one.at, at)} ${one.path_id} ${one.id}`,
          ),
        ]),
    "",
  ].join("\n");
}
