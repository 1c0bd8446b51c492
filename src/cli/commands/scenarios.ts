import { readScenarioFile } from "../../node/files/scenario-files.js";
import { readBundledScenario } from "../../node/package-files.js";
import { alignColumns } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { bundledScenarios, isScenarioName } from "../../scenario/bundled.js";
import { scenarioLimits } from "../../scenario/format/fields.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import * as shared from "../shared-flags.js";

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
    io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  },
});
