import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { SandboxError } from "../../domain/errors.js";
import { writeFileAtomically } from "../../node/files/write-file.js";
import { quote } from "../../scenario/problems/words.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { declareCommand, toggle } from "../command.js";
import { exitCode, unwritable } from "../exit-codes.js";
import { quiet } from "../flags.js";
import { ownScenario } from "../open-scenario.js";

export const command = declareCommand({
  summary: "write a commented scenario to start from",
  description: "Writes a commented starter scenario. Does not overwrite a file without --force.",
  words: { "[file]": "where to write it (default: svc-sandbox.yaml, which start finds by itself)" },
  flags: {
    force: toggle("--force", "overwrite the file when it exists", { variables: [] }),
    quiet,
  },
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, over what is there",
  },
  async run({ words, flags, io }) {
    const [name = ownScenario] = words;
    const file = resolve(io.cwd, name);
    if (flags.force !== true && existsSync(file)) {
      throw new SandboxError(
        "file_exists",
        `Failed to write ${quote(name)}: it exists already, and nothing was changed. Overwrite it with --force, or name another file.`,
      );
    }
    try {
      writeFileAtomically(file, starterScenario, 0o666);
    } catch (error) {
      unwritable(quote(name))(error);
    }
    if (flags.quiet !== true) {
      const start = name === ownScenario ? "svc-sandbox" : `svc-sandbox ${startable(name)}`;
      io.stderr.write(`Wrote ${name}. Start it with: ${start} --watch\n`);
    }
    return exitCode.fine;
  },
});

// A file without a folder or an ending could be taken for a bundled name.
function startable(name: string): string {
  return /[\\/.]/.test(name) ? name : `./${name}`;
}
