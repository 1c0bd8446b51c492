import { SandboxError } from "../../spec/errors.js";

/** Role of the user in the dashboard (R33). */
export type Actor = "administrator" | "member";

export interface Initiator {
  /** Default: administrator. */
  readonly actor?: Actor | undefined;
  /** Whether the scenario runs it: secrets of new keys then derive from the seed and their refs. */
  readonly isScripted?: boolean;
  /** Whether the timeline runs it. A repeated capture runs the timeline again. */
  readonly isOfTimeline?: boolean;
}

/** Throws `not_an_administrator` for a member (R33). */
export function requireAdministrator({ actor = "administrator" }: Initiator): void {
  if (actor === "administrator") return;
  throw new SandboxError(
    "not_an_administrator",
    "Only administrators of the organization create and manage keys; this request came from a member.",
    { actor },
  );
}
