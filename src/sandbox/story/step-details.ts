import type { Action, Performed } from "../operations/perform-action.js";
import type { StoryStep, ToldStep } from "./story.js";
import type { TimelineStep } from "./timeline.js";

/** A step of a timeline that was taken, and what came of it. */
export interface TakenStep {
  readonly kind: "timeline";
  /** When, on the sandbox's clock; ISO 8601. */
  readonly at: string;
  /** As the scenario writes it. */
  readonly step: TimelineStep;
  /** Without the secret. */
  readonly performed: Performed;
}

/** A step of a story that was told, and what came of it. */
export interface ToldDetails {
  readonly kind: "story";
  /** As the scenario writes it. */
  readonly step: StoryStep;
  /** Without the secret. */
  readonly told: ToldStep;
}

/** All there is to say of a step that has happened. */
export type StepDetails = TakenStep | ToldDetails;

/** The keys that an action is about, by their refs, also where it was refused. */
export function keysOf(
  action: Action,
  { key, replacement }: Pick<Performed, "key" | "replacement">,
): { readonly key: string | null; readonly replacement: string | null } {
  const given = action.rotate?.key ?? action.revoke?.key ?? action.create_key?.ref;
  return {
    key: key?.ref ?? given ?? null,
    replacement: replacement?.ref ?? action.rotate?.as ?? null,
  };
}

/** The same without the secret of a key that was made: what is announced holds none (R34). */
export function untoldSecret(performed: Performed): Performed {
  return { ...performed, secret: null };
}
