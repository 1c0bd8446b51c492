import { openApiDocument } from "../../api/openapi.js";
import { certificateJsonSchema } from "../../certify/result.js";
import { briefShape } from "../../report/brief.js";
import { requestShape } from "../../sandbox/view-shapes.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/json-schema.js";
import { environments, keyStates } from "../../spec/api-key.js";
import { faultPathIds, outcomes } from "../../spec/outcomes.js";
import { inJson } from "../../spec/schema/json.js";
import { type JsonSchema, jsonSchemaDocument, jsonSchemaOf } from "../../spec/schema/json-schema.js";
import { choice, count, described, list, mapping, nullable, text } from "../../spec/schema/shape.js";
import { listed, quote } from "../../spec/schema/words.js";
import { declareCommand, toggle } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { writeData } from "../terminal.js";

export const openapiCommand = declareCommand({
  summary: "print the OpenAPI 3.1.0 document of the API",
  description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
  flags: {
    preview: toggle(
      "--preview",
      "also the announced endpoints, consent requests and attestations; their shapes are a guess",
    ),
  },
  examples: {
    "svc-sandbox openapi > openapi.json": "keep it in a file",
    "svc-sandbox openapi --preview": "include the announced endpoints, as a guess",
  },
  async run({ io, flags }) {
    writeData(
      io.stdout,
      `${JSON.stringify(openApiDocument({ preview: flags.preview ?? false }), null, 2)}\n`,
    );
    return exitCode.fine;
  },
});

/** The output of `keys --json`. */
const keysShape = list(
  mapping({
    ref: described(text(), "The ref of the key; its variable is SVC_KEY_<REF>."),
    organization: described(text(), "The ref of its organization."),
    environment: choice(environments),
    state: choice(keyStates),
    secret: described(text(), "The full key."),
    status: described(count(), "The status of a request with it now."),
    code: described(nullable(text()), "The error code."),
    path_id: described(choice(outcomes.map(({ path }) => path)), "The path where the request ends."),
    fault_paths: described(list(choice(faultPathIds)), "The faults that may affect the request."),
  }),
);

/** The additional members of `exec` and `report` in JSON, compared with a certificate's report. */
const ofReport = mapping({
  conclusion: described(text(), "The report in one or two sentences."),
  notes: described(list(text()), "Hints and next steps."),
  failures: described(list(text()), "The failed thresholds."),
});

const schemas: Readonly<Record<string, () => JsonSchema>> = {
  scenario: () => scenarioJsonSchema(scenarioNames),
  certificate: certificateJsonSchema,
  report() {
    const { $schema, properties } = certificateJsonSchema() as Record<string, JsonSchema>;
    const { report } = properties as Record<string, JsonSchema>;
    const own = jsonSchemaOf(ofReport) as Record<"properties", object>;
    return { $schema, ...report, properties: { ...(report?.properties as object), ...own.properties } };
  },
  brief: () => jsonSchemaDocument(inJson(briefShape)),
  keys: () => jsonSchemaDocument(keysShape),
  journal: () => jsonSchemaDocument(inJson(list(requestShape))),
};
const formats = listed(Object.keys(schemas), "or");

export const schemaCommand = declareCommand({
  summary: "print the JSON Schema of scenarios, certificates, reports, keys or the journal",
  description:
    "Prints the JSON Schema (2020-12) of the scenario format, for editors and for other languages; or of the commands' JSON output: the certificate of certify, the report and its brief form, the keys of keys, and the journal of GET /requests.",
  words: { "[format]": `${formats} (default: scenario)` },
  choices: Object.keys(schemas),
  flags: {},
  examples: {
    "svc-sandbox schema > scenario.schema.json": "keep it in a file",
    "svc-sandbox schema brief": "what --format brief prints",
  },
  async run({ words: [format = "scenario"], io }) {
    if (!Object.hasOwn(schemas, format)) {
      throw usageError(`Unknown format ${quote(format)}. Use ${formats}.`);
    }
    writeData(io.stdout, `${JSON.stringify(schemas[format]?.(), null, 2)}\n`);
    return exitCode.fine;
  },
});
