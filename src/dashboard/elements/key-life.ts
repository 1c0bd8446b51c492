import type { ListedKey, ShownRequest } from "../control/responses.js";
import { counted } from "./text.js";

/** Whether a key is over for good, for each state. A retiring one works until its overlap ends. */
export const isOver: Readonly<Record<ListedKey["state"], boolean>> = {
  active: false,
  retiring: false,
  revoked: true,
  expired: true,
  rotated: true,
};

/** When a key ends or has ended: its revocation, else its first other end; `null` if it has none. */
export function keyEnd({ revoked_at, expires_at, overlap_ends_at }: ListedKey): string | null {
  if (revoked_at !== null) return revoked_at;
  if (expires_at === null) return overlap_ends_at;
  if (overlap_ends_at === null) return expires_at;
  return expires_at < overlap_ends_at ? expires_at : overlap_ends_at;
}

/** A key's lifeline in words, after its name: `retiring, gets 200, ends 2 March 2026, 09:30, 2 requests`. */
export function lifeSentence(key: ListedKey, requests: readonly ShownRequest[]): string {
  const { state, next_request: next } = key;
  const parts = [state, `gets ${next.sentence}`];
  const end = keyEnd(key);
  if (end !== null) {
    const day = new Date(end).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
    parts.push(`${isOver[state] ? "ended" : "ends"} ${day}, ${end.slice(11, 16)}`);
  }
  parts.push(counted(requests.length, "request"));
  return parts.join(", ");
}
