import { SandboxError } from "../../domain/errors.js";

/** Who acts in the dashboard (R33). */
export type Actor = "administrator" | "member";

/** Throws `not_an_administrator` for anyone but an administrator (R33). */
export function requireAdministrator(actor: Actor): void {
  if (actor === "administrator") return;
  throw new SandboxError(
    "not_an_administrator",
    "Only administrators of the organization create and manage keys; this was asked as a member.",
    { actor },
  );
}
