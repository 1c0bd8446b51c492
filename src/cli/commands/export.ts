import { askExport } from "../../node/clients/ask-control.js";
import { declareCommand, fileName, flag, noVariable } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { openOutput } from "../files.js";
import { askFlags, controlCall, force, quiet, runningUrl } from "../flags.js";
import { programName } from "../io.js";

export const command = declareCommand({
  summary: "back up a running sandbox, with its run-time keys and instances",
  description:
    "Writes a running sandbox with its instances, journals and reports as a state file, which start --import loads into a new --state or --store. It contains run-time keys and tokens as hashes, and the keys that a scenario pins.",
  words: { "[url]": runningUrl },
  flags: {
    output: flag(
      "-o, --output <file>",
      "write it to this file, readable only by its owner, and not to stdout",
      fileName,
      noVariable,
    ),
    force,
    ...askFlags,
    quiet,
  },
  examples: {
    "svc-sandbox export -o backup.json": "the sandbox on http://127.0.0.1:4747",
    "svc-sandbox start --state sandbox.json --import backup.json": "a server that continues from it",
  },
  async run({ words, flags, io }) {
    // For its owner only: a scenario may pin keys.
    const write = openOutput(flags, io, 0o600);
    const text = await askExport(controlCall(words[0], flags, io));
    write(text, `Load it with: ${programName(io.env)} start --state <file> --import ${flags.output}`);
    return exitCode.fine;
  },
});
