import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/json-schema.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";

export const command = declareCommand({
  summary: "print the JSON Schema of the scenario format",
  description:
    "Prints the JSON Schema (2020-12) of the scenario format, for editors and for other languages.",
  flags: {},
  examples: {
    "svc-sandbox schema > scenario.schema.json": "keep it in a file",
  },
  async run({ io }) {
    io.stdout.write(`${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`);
    return exitCode.fine;
  },
});
