import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomically } from "../../node/files/write-file.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { quote } from "../../spec/schema/words.js";
import { declareCommand, flag, noVariable, oneOf, toggle } from "../command.js";
import { exitCode, tryToWrite } from "../exit-codes.js";
import { newFile } from "../files.js";
import { clientKinds, installedFile, writeAgentSection, writeClientFiles } from "../first-files.js";
import { force, quiet } from "../flags.js";
import { programName } from "../io.js";
import { ownScenario } from "../open-scenario.js";
import { tell } from "../tell.js";

export const command = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes a first test, a script that runs it and a workflow for GitHub instead; with --agent a section for coding agents. Does not overwrite a file without --force.",
  words: { "[file]": "the file to write (default: svc-sandbox.yaml, which start finds automatically)" },
  flags: {
    force,
    client: flag(
      "--client <kind>",
      "write first tests of a client: vitest, pytest, junit, go",
      oneOf(clientKinds),
      noVariable,
    ),
    agent: toggle(
      "--agent",
      "add a section to AGENTS.md that points coding agents to the package's AGENTS.md",
      noVariable,
    ),
    quiet,
  },
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init --client vitest": "a first test, a script and a workflow",
    "svc-sandbox init --agent": "a section in AGENTS.md",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, and overwrite an existing file",
  },
  async run({ words, flags, io }) {
    if (flags.client !== undefined || flags.agent) {
      const written = [
        ...(flags.client === undefined ? [] : await writeClientFiles(flags.client, io.cwd, flags)),
        ...(flags.agent ? await writeAgentSection(io.cwd) : []),
      ];
      if (!flags.quiet) tell(io.stderr, written.map((line) => `${line}\n`).join(""));
      return exitCode.fine;
    }
    const [name = ownScenario] = words;
    const file = newFile(name, io.cwd, flags);
    const installed = installedFile(dirname(file), "dist/scenario.schema.json");
    tryToWrite(quote(name), () => {
      writeFileAtomically(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), 0o666);
      // Editors use it for completion and checks. An existing copy may be the user's.
      const copy = join(dirname(file), schemaCopy);
      if (installed === undefined && (flags.force === true || !existsSync(copy))) {
        const schema = `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`;
        writeFileAtomically(copy, schema, 0o666);
      }
    });
    if (flags.quiet !== true) {
      const start = programName(io.env) + (name === ownScenario ? "" : ` ${startable(name)}`);
      const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
      tell(io.stderr, `Wrote ${name}${beside}. Start it with: ${start} --watch\n`);
    }
    return exitCode.fine;
  },
});

/** The schema's path in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

// A file without a folder or extension could look like a bundled name.
function startable(name: string): string {
  return /[\\/.]/.test(name) ? name : `./${name}`;
}
