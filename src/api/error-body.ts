import type { Assumptions } from "../domain/assumptions.js";
import { outcomeOf, type PathId } from "../domain/outcomes.js";
import type { World } from "../sandbox/world.js";
import { type JsonBody, utf8Length } from "./messages.js";

/** The error code that a path answers with; `null` on success. That of 429 is an assumption. */
export function codeOf(path: PathId, assumptions: Assumptions): string | null {
  const { status, code } = outcomeOf(path);
  return status === 429 ? assumptions.rate_limit_code : code;
}

/** The code that the next answer on this path will have; `null` on success, and where it varies from answer to answer. */
export function expectedCode(world: World, path: PathId): string | null {
  const { profile, assumptions, givenAssumptions } = world;
  const varies = profile === "varied" && givenAssumptions.rate_limit_code === undefined;
  return varies && outcomeOf(path).status === 429 ? null : codeOf(path, assumptions);
}

/** The error body of the API (section 7 of the specification; R27). */
export function errorBody(
  code: string,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): JsonBody {
  const text = JSON.stringify({ error: { code, message, ...(details !== undefined && { details }) } });
  return { text, bytes: utf8Length(text) };
}
