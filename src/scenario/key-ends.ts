import { maximumOverlap } from "../domain/key.js";
import type { PathId } from "../domain/outcomes.js";
import { parseDuration } from "./duration.js";
import type { KeyFacts } from "./world-facts.js";

/** How a key has ended, so that it can be neither rotated nor revoked (R42). */
export interface KeyEnd {
  /** As in "the key is revoked from the start". */
  readonly said: string;
  /** The path of its requests; `undefined` while it still works, in its overlap. */
  readonly path: Extract<PathId, `401.${string}`> | undefined;
}

const pathOf = {
  revoked: "401.revoked",
  expired: "401.expired",
  rotated: "401.rotated",
  retiring: undefined,
} as const;

/** How a key has ended before the clock starts, if it certainly has. */
export function endAtStart({ fields, sound }: KeyFacts): KeyEnd | undefined {
  if (!sound) return undefined;
  const { state = "active", expires } = fields;
  if (state !== "active") return { said: `is ${state} from the start`, path: pathOf[state] };
  // A time may come to lie in the future when the clock is told to start at another one.
  const expiry = expires === undefined ? undefined : parseDuration(expires);
  if (expiry === undefined || expiry > 0) return undefined;
  return { said: "is expired from the start", path: "401.expired" };
}

interface EndingAction {
  readonly rotate?: { readonly key: string; readonly overlap?: string; readonly actor?: string };
  readonly revoke?: { readonly key: string; readonly actor?: string };
  readonly expect?: { readonly error?: string };
}

/**
 * Which key a step ends for certain, and how; `step` is what it is called, as in "step 3".
 *
 * `retiringCounts`: whether a key in its overlap takes one of the five places (R32), so that there may be none for
 * another.
 */
export function endMadeBy(
  { rotate, revoke, expect }: EndingAction,
  step: string,
  retiringCounts: boolean,
): { readonly key: string; readonly end: KeyEnd } | undefined {
  const action = rotate ?? revoke;
  if (action === undefined || action.actor === "member" || expect?.error !== undefined) return undefined;
  if (rotate === undefined)
    return { key: action.key, end: { said: `is revoked by ${step}`, path: "401.revoked" } };
  const overlap = parseDuration(rotate.overlap ?? "60m") ?? -1;
  if (overlap < 0 || overlap > maximumOverlap || retiringCounts) return undefined;
  return {
    key: rotate.key,
    end: { said: `is replaced by ${step}`, path: overlap === 0 ? "401.rotated" : undefined },
  };
}
