import { readScenarioFile } from "../../node/files/scenario-files.js";
import { readBundledScenario } from "../../node/package-files.js";
import { SandboxError } from "../../rules/errors.js";
import { isScenarioName } from "../../scenario/bundled.js";
import { scenarioLimits } from "../../scenario/format/fields.js";
import { quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";

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
    // Printed as it is: an example may have a key.
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
