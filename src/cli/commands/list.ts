import { alignColumns } from "../../report/plain-text.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { paletteFor } from "../palette.js";

/** `svc-sandbox list` */
export const list: Run = async ({ flags, io }) => {
  const rows = Object.entries(bundledScenarios as Readonly<Record<string, Scenario>>).map(
    ([name, scenario]) => ({
      name,
      title: scenario.name ?? name,
      description: firstSentence(scenario.description ?? scenario.name ?? ""),
    }),
  );
  if (flags.json) {
    io.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return exitCode.fine;
  }
  const palette = paletteFor(io.stdout, io.env);
  const lines = alignColumns(
    rows.map(({ name, description }) => [name, description]),
    (text, _row, column) => (column === 0 ? palette.bold(text) : text),
  );
  io.stdout.write(`${lines.join("\n")}\n`);
  return exitCode.fine;
};

function firstSentence(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return /^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line;
}
