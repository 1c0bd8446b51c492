import { openApiDocument } from "../../api/openapi.js";
import { keyPrefixes, randomLength, sandboxMark } from "../../rules/keys/key-text.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import type { JsonSchema } from "../../schema/json-schema.js";
import { listed, quote } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";

export const openapiCommand = declareCommand({
  summary: "print the OpenAPI 3.1.0 document of the API",
  description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
  flags: {},
  examples: {
    "svc-sandbox openapi > openapi.json": "keep it in a file",
  },
  async run({ io }) {
    io.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
  },
});

/** What `schema` prints, by the word that names it. */
const schemas: Readonly<Record<string, () => string | Promise<string>>> = {
  scenario: () => jsonText(scenarioJsonSchema(scenarioNames)),
  async certificate() {
    const { certificateJsonSchema } = await import("../../certify/certificate/certificate.js");
    return jsonText(certificateJsonSchema());
  },
  gitleaks: gitleaksRule,
};
const schemaNames = listed(Object.keys(schemas), "or");

export const schemaCommand = declareCommand({
  summary: "print the JSON Schema of scenarios or certificates, or a rule for secret scanners",
  description:
    "Prints the JSON Schema (2020-12) of the scenario format or of certificates, for editors and for other languages; or a configuration of gitleaks that finds keys of the API, except for a sandbox's own keys.",
  args: { "[format]": `${schemaNames} (default: scenario)` },
  flags: {},
  examples: {
    "svc-sandbox schema > scenario.schema.json": "keep it in a file",
    "svc-sandbox schema certificate": "what certify --format json prints",
    "svc-sandbox schema gitleaks > .gitleaks.toml": "find real keys in a repository",
  },
  async run({ args, io }) {
    const format = args[0] ?? "scenario";
    const textOf = Object.hasOwn(schemas, format) ? schemas[format] : undefined;
    if (textOf === undefined) throw usageError(`Unknown format ${quote(format)}. Use ${schemaNames}.`);
    io.stdout.write(await textOf());
  },
});

function jsonText(schema: JsonSchema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** A configuration of gitleaks. RE2 has no lookahead, so an allowlist leaves out the sandbox's keys. A word in a text such as `SVC_test_old` is no key. */
function gitleaksRule(): string {
  const prefixes = keyPrefixes.map(({ prefix }) => prefix);
  return `[extend]
useDefault = true

[[rules]]
id = "relying-party-api-key"
description = "A key of the relying-party API: revoke it, and remove it from the history"
regex = '''\\b(?:${prefixes.join("|")})[\\w-]{16,}'''
keywords = ${JSON.stringify(prefixes.map((prefix) => prefix.toLowerCase()))}

[[rules.allowlists]]
description = "Keys that svc-sandbox makes"
regexes = ['''^(?:${prefixes.join("|")})${sandboxMark}[0-9A-Za-z]{${randomLength}}$''']
`;
}
