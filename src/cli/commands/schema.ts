import { certificateJsonSchema } from "../../certify/json-schema.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/json-schema.js";
import { quote } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { writeData } from "../tell.js";

export const command = declareCommand({
  summary: "print the JSON Schema of scenarios, or of certificates",
  description:
    "Prints the JSON Schema (2020-12) of the scenario format, or of the certificate of a client, for editors and for other languages.",
  words: { "[format]": "scenario or certificate (default: scenario)" },
  choices: ["scenario", "certificate"],
  flags: {},
  examples: {
    "svc-sandbox schema > scenario.schema.json": "keep it in a file",
  },
  async run({ words: [format = "scenario"], io }) {
    if (format !== "scenario" && format !== "certificate") {
      throw usageError(`There is no format ${quote(format)}: write scenario or certificate.`);
    }
    const schema = format === "scenario" ? scenarioJsonSchema(scenarioNames) : certificateJsonSchema();
    writeData(io.stdout, `${JSON.stringify(schema, null, 2)}\n`);
    return exitCode.fine;
  },
});
