import { alignColumns } from "../../report/plain-text.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { json } from "../flags.js";
import { tell, writeData } from "../tell.js";
import { shortened, styleFor } from "../terminal.js";

export const command = declareCommand({
  summary: "list the bundled scenarios",
  description: "Lists the bundled scenarios, one line each.",
  flags: { json },
  examples: {
    "svc-sandbox list": "names and what each one shows",
    "svc-sandbox list --json": "the same for machines",
  },
  async run({ flags, io }) {
    const rows = Object.entries(bundledScenarios as Readonly<Record<string, Scenario>>).map(
      ([name, scenario]) => ({
        name,
        title: scenario.name ?? name,
        description: firstSentence(scenario.description ?? scenario.name ?? ""),
      }),
    );
    const { palette, width } = styleFor(io.stdout, io.env);
    const room = width - 2 - Math.max(...rows.map(({ name }) => name.length));
    const lines = alignColumns(
      rows.map(({ name, description }) => [palette.bold(name), shortened(description, room)]),
    );
    if (flags.json) writeData(io.stdout, `${JSON.stringify(rows, null, 2)}\n`);
    else tell(io.stdout, `${lines.join("\n")}\n`);
    return exitCode.fine;
  },
});

function firstSentence(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return /^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line;
}
