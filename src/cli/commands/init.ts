import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { writeFileAtomically } from "../../node/files/write-file.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { quote } from "../../schema/words.js";
import { declareCommand, noVariable, toggle } from "../command.js";
import { exitCode, tryToWrite } from "../exit-codes.js";
import { newFile } from "../files.js";
import { quiet } from "../flags.js";
import { programName } from "../io.js";
import { ownScenario } from "../open-scenario.js";
import { tell } from "../tell.js";

export const command = declareCommand({
  summary: "write a commented scenario to start from",
  description:
    "Writes a commented starter scenario, which names its JSON Schema for editors: that of the package where it is installed, else a copy beside it. Does not overwrite a file without --force.",
  words: { "[file]": "where to write it (default: svc-sandbox.yaml, which start finds by itself)" },
  flags: {
    force: toggle("--force", "overwrite the file when it exists", noVariable),
    quiet,
  },
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, over what is there",
  },
  async run({ words, flags, io }) {
    const [name = ownScenario] = words;
    const file = newFile(name, io.cwd, flags);
    const installed = installedSchema(dirname(file));
    tryToWrite(quote(name), () => {
      writeFileAtomically(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), 0o666);
      // What an editor completes and checks by; a copy that is there may be one that the user keeps.
      const copy = join(dirname(file), schemaCopy);
      if (installed === undefined && (flags.force === true || !existsSync(copy))) {
        const schema = `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`;
        writeFileAtomically(copy, schema, 0o666);
      }
    });
    if (flags.quiet !== true) {
      const start = programName(io.env) + (name === ownScenario ? "" : ` ${startable(name)}`);
      const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors beside it` : "";
      tell(io.stderr, `Wrote ${name}${beside}. Start it with: ${start} --watch\n`);
    }
    return exitCode.fine;
  },
});

/** The path of the schema in the starter scenario: a copy beside it. */
const schemaCopy = "./svc-sandbox.schema.json";

// The path from a folder to the schema of the package that is installed there; `npx` keeps its own out of sight.
function installedSchema(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules/svc-sandbox/dist/scenario.schema.json");
    if (existsSync(path))
      return relative(folder, path)
        .replaceAll("\\", "/")
        .replace(/^(?!\.)/, "./");
    if (at === dirname(at)) return undefined;
  }
}

// A file without a folder or an ending could be taken for a bundled name.
function startable(name: string): string {
  return /[\\/.]/.test(name) ? name : `./${name}`;
}
