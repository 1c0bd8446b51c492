import type { Announcements, WorldEvent } from "../events.js";
import type { Action, Performed } from "./perform-action.js";
import type { StoryStep, ToldStep } from "./story.js";

/** A step of a timeline that was taken, and what came of it. */
export interface TakenStep {
  readonly kind: "timeline";
  /** As the scenario writes it. */
  readonly step: Action;
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

/** What more there is to say of a step than its event says. Holds no key that was made (R34). */
export type StepDetails = TakenStep | ToldDetails;

// Beside the events and not in them: most who hear of a step want to know that it happened and not all about it.
const known = new WeakMap<WorldEvent, StepDetails>();

/** Announces a step to those who listen, with what more there is to say of it for those who ask. */
export function announceStep({ announce }: Announcements, event: WorldEvent, details: StepDetails): void {
  known.set(event, withoutSecret(details));
  announce(event);
}

/** What more there is to say of the step that an event is about; `undefined` for events about anything else. */
export function stepDetails(event: WorldEvent): StepDetails | undefined {
  return known.get(event);
}

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

function withoutSecret(details: StepDetails): StepDetails {
  if (details.kind === "timeline") return { ...details, performed: { ...details.performed, secret: null } };
  const { told } = details;
  if (told.performed === null) return details;
  return { ...details, told: { ...told, performed: { ...told.performed, secret: null } } };
}
