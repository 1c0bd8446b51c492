import { openApiDocument } from "../../api/openapi.js";
import { certificateJsonSchema } from "../../certify/result.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/json-schema.js";
import type { JsonSchema } from "../../spec/schema/json-schema.js";
import { listed, quote } from "../../spec/schema/words.js";
import { declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";

export const openapiCommand = declareCommand({
  summary: "print the OpenAPI 3.1.0 document of the API",
  description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
  flags: {},
  examples: {
    "svc-sandbox openapi > openapi.json": "keep it in a file",
  },
  async run({ io }) {
    io.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
    return exitCode.fine;
  },
});

const schemas: Readonly<Record<string, () => JsonSchema>> = {
  scenario: () => scenarioJsonSchema(scenarioNames),
  certificate: certificateJsonSchema,
};
const formats = listed(Object.keys(schemas), "or");

export const schemaCommand = declareCommand({
  summary: "print the JSON Schema of scenarios or certificates",
  description:
    "Prints the JSON Schema (2020-12) of the scenario format or of certificates, for editors and for other languages.",
  words: { "[format]": `${formats} (default: scenario)` },
  choices: Object.keys(schemas),
  flags: {},
  examples: {
    "svc-sandbox schema > scenario.schema.json": "keep it in a file",
    "svc-sandbox schema certificate": "what certify --json prints",
  },
  async run({ words: [format = "scenario"], io }) {
    if (!Object.hasOwn(schemas, format)) {
      throw usageError(`Unknown format ${quote(format)}. Use ${formats}.`);
    }
    io.stdout.write(`${JSON.stringify(schemas[format]?.(), null, 2)}\n`);
    return exitCode.fine;
  },
});
