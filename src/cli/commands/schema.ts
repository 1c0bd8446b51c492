import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import type { JsonSchema } from "../../schema/json-schema.js";
import { listed, quote } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";

/** What `schema` prints, by the word that names it. */
const schemas: Readonly<Record<string, () => string | Promise<string>>> = {
  scenario: () => jsonText(scenarioJsonSchema(scenarioNames)),
  async certificate() {
    const { certificateJsonSchema } = await import("../../certify/certificate/certificate.js");
    return jsonText(certificateJsonSchema());
  },
};
const schemaNames = listed(Object.keys(schemas), "or");

export const schemaCommand = declareCommand({
  summary: "print the JSON Schema of scenarios or certificates",
  description:
    "Prints the JSON Schema (2020-12) of the scenario format or of certificates, for editors and for other languages.",
  args: { "[format]": `${schemaNames} (default: scenario)` },
  flags: {},
  examples: {
    "svc-sandbox schema > scenario.schema.json": "keep it in a file",
    "svc-sandbox schema certificate": "what certify --format json prints",
  },
  async run({ args, io }) {
    // Printed as it is: an example may have a key.
    const format = args[0] ?? "scenario";
    const textOf = Object.hasOwn(schemas, format) ? schemas[format] : undefined;
    if (textOf === undefined) throw usageError(`Unknown format ${quote(format)}. Use ${schemaNames}.`);
    io.stdout.printSecret(await textOf());
  },
});

function jsonText(schema: JsonSchema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
