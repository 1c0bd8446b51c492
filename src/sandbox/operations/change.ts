import { SandboxError } from "../../rules/errors.js";
import type { ChangeEvent } from "../journal/journal.js";
import type { SandboxState } from "../sandbox-state.js";

// What all changes of a running scenario have in common: who makes one, when, and who is told of it.

export type Actor = "administrator" | "member";

/** Who makes a change: by default, a user who is an administrator. */
export interface Initiator {
  readonly actor?: Actor | undefined;
  /** Whether a step of the scenario makes it: secrets of new keys then derive from the seed and their refs. */
  readonly isScripted?: boolean;
  /** When the step of the timeline that makes it is due (epoch milliseconds). Default: not in a timeline. */
  readonly dueAt?: number | undefined;
}

export function requireAdministrator({ actor }: Initiator): void {
  if (actor !== "member") return;
  const only = "Only administrators of the organization create and manage keys";
  throw new SandboxError("not_an_administrator", `${only}; this request came from a member.`, { actor });
}

/** The time of a change: a step of the timeline runs as if at the instant when it is due. */
export function timeOfChange({ clock }: SandboxState, { dueAt }: Initiator): number {
  return dueAt ?? clock.now();
}

/** Ends a change that was made: notes whether a user made it, and emits its event. */
export function announceChange(sandbox: SandboxState, { isScripted }: Initiator, event: ChangeEvent): void {
  if (!isScripted) sandbox.isChangedByUser = true;
  sandbox.journal.emit(event);
}
