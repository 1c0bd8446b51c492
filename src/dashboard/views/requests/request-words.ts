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
