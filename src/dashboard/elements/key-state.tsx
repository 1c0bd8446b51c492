import type { Shown } from "../control/responses.js";

/** The shapes of the states in a box of 10 by 10, for readers who cannot distinguish the colors. */
export const stateShapes: Readonly<Record<Shown<"ListedKey">["state"], string>> = {
  active: "M5 0.5A4.5 4.5 0 1 1 4.99 0.5Z",
  retiring: "M5 0.5A4.5 4.5 0 1 1 4.99 0.5ZM5 1.7V8.3A3.3 3.3 0 0 0 5 1.7Z",
  rotated: "M5 0L10 5L5 10L0 5Z",
  expired: "M1 1H9V9H1Z",
  revoked: "M0 1.8L1.8 0L5 3.2L8.2 0L10 1.8L6.8 5L10 8.2L8.2 10L5 6.8L1.8 10L0 8.2L3.2 5Z",
};

const stateTones = {
  active: "success",
  retiring: "limit",
  rotated: "other",
  expired: "key",
  revoked: "key",
} as const satisfies Record<Shown<"ListedKey">["state"], string>;

export function KeyState({ state }: Pick<Shown<"ListedKey">, "state">) {
  return (
    <span class={`key-state toned tone-${stateTones[state]}`}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        <path d={stateShapes[state]} fill-rule="evenodd" />
      </svg>{" "}
      {state}
    </span>
  );
}

type EndName = Extract<keyof Shown<"ListedKey">, `${string}_at`>;

/** The time of each state that is over for good; `null` for the other states. */
const endNames: Readonly<Record<Shown<"ListedKey">["state"], EndName | null>> = {
  active: null,
  retiring: null,
  rotated: "overlap_ends_at",
  expired: "expires_at",
  revoked: "revoked_at",
};

/** Whether a key is over for good. A retiring key works until its overlap ends. */
export function hasEnded({ state }: Pick<Shown<"ListedKey">, "state">): boolean {
  return endNames[state] !== null;
}

const endTerms: Readonly<Record<EndName, string>> = {
  revoked_at: "Revoked",
  expires_at: "Expires",
  overlap_ends_at: "Overlap ends",
};

/** The times that end a key; only the first one of a revoked key, which has already ended. */
export function endsOf(key: Pick<Shown<"ListedKey">, EndName>) {
  const ends = (Object.keys(endTerms) as EndName[]).flatMap((name) => {
    const at = key[name];
    return at === null ? [] : [{ name, term: endTerms[name], at }];
  });
  return key.revoked_at === null ? ends : ends.slice(0, 1);
}

/** The time when a key is over for good; `null` for a key without an end. */
export function firstEndOf(key: Pick<Shown<"ListedKey">, EndName>): string | null {
  const times = Object.values(endNames).flatMap((name) => (name === null ? [] : (key[name] ?? [])));
  return times.sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;
}
