import { clientEnvironment, environmentLines } from "../client-environment.js";
import type { Call, Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import type { KeyFormat } from "../formats.js";
import { keyRows, keyTable } from "../key-rows.js";
import { keysToComeLines } from "../keys-to-come.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { paletteFor } from "../palette.js";
import { usageError } from "../usage-error.js";

/** `svc-sandbox keys` */
export const keys: Run = async (call) => {
  const { words, flags, io } = call;
  const format = formatOf(call);
  const world = openNamed(await loadNamed(words[0], call), flags);
  if (format === "env") {
    io.stdout.write(environmentLines(clientEnvironment(world, undefined, { all: true })));
    return exitCode.fine;
  }
  const rows = keyRows(world);
  if (format === "json") {
    io.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return exitCode.fine;
  }
  const palette = paletteFor(io.stdout, io.env);
  const lines = [
    ...keyTable(rows, ["ref", "organization", "state", "secret"], palette),
    ...keysToComeLines(world, palette),
  ];
  io.stdout.write(`${lines.join("\n")}\n`);
  return exitCode.fine;
};

function formatOf({ flags: { format, json } }: Call): KeyFormat {
  if (json !== true) return format ?? "table";
  if (format === undefined || format === "json") return "json";
  throw usageError(
    `Failed to read the command line: --json and --format ${format} contradict each other. Leave one out.`,
  );
}
