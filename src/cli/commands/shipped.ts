import { openApiDocument } from "../../api/openapi.js";
import { readScenarioFile } from "../../node/files/scenario-files.js";
import { readBundledScenario } from "../../node/package-files.js";
import { alignColumns } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { bundledScenarios, isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { scenarioLimits } from "../../scenario/format/fields.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { JsonSchema } from "../../schema/json-schema.js";
import { listed, quote, quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as shared from "../shared-flags.js";

// The commands that print what the package contains: scenarios, schemas and the API's document. What they print with
// `printSecret` is as it is: an example may have a key.

export const listCommand = declareCommand({
  summary: "list the bundled scenarios",
  description: "Lists the bundled scenarios, one line each.",
  flags: { json: shared.json },
  examples: {
    "svc-sandbox list": "names and what each one shows",
    "svc-sandbox list --json": "the same for machines",
  },
  async run({ flags, io }) {
    const scenarios: Readonly<Record<string, Scenario>> = bundledScenarios;
    const summaries: { name: string; title: string; description: string }[] = [];
    for (const [name, scenario] of Object.entries(scenarios)) {
      const { name: title = name, description = scenario.name ?? "" } = scenario;
      // The first sentence, on one line.
      const line = description.trim().replace(/\s+/g, " ");
      const [sentence = line] = /^.*?[.!?](?= |$)/.exec(line) ?? [];
      summaries.push({ name, title, description: sentence });
    }
    if (flags.json) {
      io.stdout.write(`${JSON.stringify(summaries, null, 2)}\n`);
      return;
    }

    const { palette } = io.stdout.style();
    const rows = summaries.map(({ name, description }) => [palette.bold(name), description]);
    io.stdout.say(`${alignColumns(rows).join("\n")}\n`);
  },
});

export const showCommand = declareCommand({
  summary: "print a scenario's YAML",
  description: "Prints the YAML of a scenario, unchanged.",
  args: { "<scenario>": "a bundled name or a file" },
  flags: {},
  examples: {
    "svc-sandbox show key-states": "read a bundled scenario",
    "svc-sandbox show rotation > my.yaml": "start your own from it",
  },
  async run({ args, io }) {
    const [name = ""] = args;
    const text = isScenarioName(name) ? await readBundledScenario(name) : readScenarioFile(name, io.cwd);
    const { bytes } = scenarioLimits;
    if (Buffer.byteLength(text) > bytes) {
      const why = `it is larger than ${bytes / 2 ** 20} MiB`;
      throw new SandboxError("file_unreadable", `Failed to read the scenario ${quoteFile(name)}: ${why}.`);
    }
    io.stdout.printSecret(text.endsWith("\n") ? text : `${text}\n`);
  },
});

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
    const format = args[0] ?? "scenario";
    const textOf = Object.hasOwn(schemas, format) ? schemas[format] : undefined;
    if (textOf === undefined) throw usageError(`Unknown format ${quote(format)}. Use ${schemaNames}.`);
    io.stdout.printSecret(await textOf());
  },
});

function jsonText(schema: JsonSchema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

export const openapiCommand = declareCommand({
  summary: "print the OpenAPI 3.1.0 document of the API",
  description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
  flags: {},
  examples: {
    "svc-sandbox openapi > openapi.json": "keep it in a file",
  },
  async run({ io }) {
    io.stdout.printSecret(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
  },
});
