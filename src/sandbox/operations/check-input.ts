import { SandboxError } from "../../domain/errors.js";
import type { World } from "../world.js";

/** Role of the user in the dashboard (R33). */
export type Actor = "administrator" | "member";

/** The initiator of an operation. */
export interface Initiator {
  /** Default: administrator. */
  readonly actor?: Actor | undefined;
  /** Whether the scenario itself runs it: new keys then get the secrets that the seed and their refs give. */
  readonly isScripted?: boolean;
}

/** Throws `not_an_administrator` for a member (R33). */
export function requireAdministrator({ actor = "administrator" }: Initiator): void {
  if (actor === "administrator") return;
  throw new SandboxError(
    "not_an_administrator",
    "Only administrators of the organization create and manage keys; this was asked as a member.",
    { actor },
  );
}

/** Throws `not_found` in a world without the preview of the announced endpoints (R49). */
export function requirePreview({ preview, name }: World): void {
  if (preview) return;
  throw new SandboxError(
    "not_found",
    `Failed to find consent requests and attestations: the preview of the announced endpoints is off in ${JSON.stringify(name)}. Write preview: true into the scenario.`,
  );
}

/** Throws `validation_failed` with the invalid fields, by their names in JSON; `undefined` stands for a valid one. */
export function requireFields(doing: string, problems: Readonly<Record<string, string | undefined>>): void {
  const wrong = Object.entries(problems).filter(([, problem]) => problem !== undefined);
  if (wrong.length === 0) return;
  throw new SandboxError(
    "validation_failed",
    `Failed to ${doing}: ${wrong.map(([field, problem]) => `${field} ${problem}`).join("; ")}.`,
    { fields: Object.fromEntries(wrong) },
  );
}
