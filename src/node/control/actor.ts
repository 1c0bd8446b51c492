import type { Request } from "express";
import { SandboxError } from "../../domain/errors.js";
import { type Actor, requireAdministrator } from "../../sandbox/operations/check-input.js";

/** Who acts, by `X-Sandbox-Actor`; throws `not_an_administrator` for a member's write (R33), or `validation_failed`. */
export function actorOf(request: Request, method: string): Actor {
  const actor = request.get("x-sandbox-actor") ?? "administrator";
  if (actor !== "administrator" && actor !== "member") {
    const problem = "is administrator or member";
    throw new SandboxError("validation_failed", `The header X-Sandbox-Actor ${problem}.`, {
      fields: { "X-Sandbox-Actor": problem },
    });
  }
  if (method !== "GET") requireAdministrator({ actor });
  return actor;
}
