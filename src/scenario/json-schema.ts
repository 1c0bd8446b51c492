import { z } from "zod/mini";
import { scenarioSchema } from "./schema.js";

/** The scenario format as JSON Schema 2020-12, for editors and for other languages. */
export function scenarioJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(scenarioSchema, { target: "draft-2020-12" }) as Record<string, unknown>;
}
