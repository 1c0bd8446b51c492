import { alignColumns } from "../../report/plain-text.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
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
