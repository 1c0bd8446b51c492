import { askExport } from "../../node/clients/ask-control.js";
import { writeFileAtomically } from "../../node/files/write-file.js";
import { quote } from "../../schema/words.js";
import { declareCommand, fileName, flag, noVariable, toggle } from "../command.js";
import { exitCode, tryToWrite } from "../exit-codes.js";
import { newFile } from "../files.js";
import { askFlags, controlCall, quiet, runningUrl } from "../flags.js";
import { programName } from "../io.js";
import { tell, writeData } from "../tell.js";

export const command = declareCommand({
  summary: "back up a running sandbox, with its run-time keys and instances",
  description:
    "Writes a running sandbox with its instances, journals and reports as a state file, which start --import loads into a new --state or --store. It contains run-time keys and tokens as hashes, and the keys that a scenario pins.",
  words: { "[url]": runningUrl },
  flags: {
    output: flag(
      "-o, --output <file>",
      "write it to this file, for its owner only, and not to stdout",
      fileName,
      noVariable,
    ),
    force: toggle("--force", "overwrite the file when it exists", noVariable),
    ...askFlags,
    quiet,
  },
  examples: {
    "svc-sandbox export -o backup.json": "the one on http://127.0.0.1:4747",
    "svc-sandbox start --state sandbox.json --import backup.json": "a server that continues from it",
  },
  async run({ words, flags, io }) {
    const { output } = flags;
    const file = output === undefined ? undefined : newFile(output, io.cwd, flags);
    const text = await askExport(controlCall(words[0], flags, io));
    if (file === undefined) writeData(io.stdout, text);
    else {
      // A scenario may pin keys.
      tryToWrite(quote(output), () => writeFileAtomically(file, text, 0o600));
      if (flags.quiet !== true)
        tell(
          io.stderr,
          `Wrote ${output}. Load it with: ${programName(io.env)} start --state <file> --import ${output}\n`,
        );
    }
    return exitCode.fine;
  },
});
