import type { IsOver, KeyEnd, ListedKey, ShownRequest } from "../control/responses.js";
import { counted } from "./text.js";

/** A retiring key works until its overlap ends. */
export const isOver: IsOver = { active: false, retiring: false, revoked: true, expired: true, rotated: true };

const keyEnds: Readonly<Record<KeyEnd, true>> = { revoked_at: true, expires_at: true, overlap_ends_at: true };

/** When a key ends or has ended: its revocation, else its first other end; `null` if it has none. */
export function keyEnd(key: ListedKey): string | null {
  if (key.revoked_at !== null) return key.revoked_at;
  let first: string | null = null;
  for (const name of Object.keys(keyEnds) as KeyEnd[]) {
    const end = key[name];
    if (end !== null && (first === null || end < first)) first = end;
  }
  return first;
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
