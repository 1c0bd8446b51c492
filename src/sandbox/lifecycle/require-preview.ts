import { SandboxError } from "../../domain/errors.js";
import type { World } from "../world.js";

/** Throws `not_found` in a world without the preview of the announced endpoints: it has none of their records (R49). */
export function requirePreview({ preview, name }: World): void {
  if (preview) return;
  throw new SandboxError(
    "not_found",
    `Failed to find consent requests and attestations: the preview of the announced endpoints is off in ${JSON.stringify(name)}. Write preview: true into the scenario.`,
  );
}
