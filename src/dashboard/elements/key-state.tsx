import type { Shown } from "../control/responses.js";

type Key = Shown<"ListedKey">;

/** The tones of the states. */
export const stateTones: Readonly<Record<Key["state"], string>> = {
  active: "success",
  retiring: "limit",
  rotated: "other",
  expired: "key",
  revoked: "key",
};

export function KeyState({ state }: Pick<Key, "state">) {
  return <span class={`key-state toned tone-${stateTones[state]}`}>{state}</span>;
}

/** Whether a key is over for good. A retiring key works until its overlap ends. */
export function hasEnded({ state }: Pick<Key, "state">): boolean {
  return state !== "active" && state !== "retiring";
}

/** The times that end a key; only the first one of a revoked key, which has already ended. */
export function endsOf({ revoked_at, expires_at, overlap_ends_at }: Key) {
  const ends = [
    { term: "Revoked", at: revoked_at },
    { term: "Expires", at: expires_at },
    { term: "Overlap ends", at: overlap_ends_at },
  ].flatMap(({ term, at }) => (at === null ? [] : [{ term, at }]));
  return revoked_at === null ? ends : ends.slice(0, 1);
}

/** The time when a key is over for good; `null` for a key without an end. */
export function firstEndOf(key: Key): string | null {
  return endsOf(key).sort((a, b) => Date.parse(a.at) - Date.parse(b.at))[0]?.at ?? null;
}
