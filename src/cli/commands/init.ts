import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { packageFile } from "../../node/package-files.js";
import { shellWord } from "../../report/curl-line.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { listed, quote, quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { docsPlace } from "../docs-place.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags/flag.js";
import * as shared from "../flags/shared-flags.js";
import { writeAgentSection } from "../init/agent-section.js";
import { requireNeeds } from "../init/client-needs.js";
import { type ClientKind, clientKinds, clients } from "../init/client-tests.js";
import { installedFile, makeFolderFor, newFile, writeProjectFile } from "../init/new-files.js";
import { packageJsonWithScript } from "../init/package-script.js";
import type { Io } from "../io.js";
import { asFileArgument, folderScenarioFile } from "../scenario/open-scenario.js";

function readClient(text: string, from: string): ClientKind {
  const kind = clientKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw usageError(
    `Invalid ${from}: ${quote(text)}. First tests exist for ${listed(clientKinds, "and")}. For any other client, run your command with exec. Recipes: ${docsPlace("test-runners")}.`,
  );
}

export const initCommand = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes first tests instead, if the project has what they need; with --agent a section for coding agents. Does not overwrite a scenario or tests without --force.",
  args: {
    "[file]":
      "the file to write (default: svc-sandbox.yaml, which start finds automatically; with --client a file in the folder of the client's tests)",
  },
  flags: {
    force: shared.force,
    client: flag.cliOnlyOption(
      "--client <kind>",
      `write first tests of a client: ${clientKinds.join(", ")}`,
      readClient,
    ),
    agent: flag.cliOnlyToggle(
      "--agent",
      "add a section to AGENTS.md that points coding agents to the package's AGENTS.md",
    ),
    quiet: shared.quiet("only errors"),
  },
  modes: [
    {
      name: "init --client",
      when: ({ flags }) => flags.client !== undefined,
      flags: ["client", "agent", "force", "quiet"],
    },
    { name: "init --agent", when: ({ flags }) => flags.agent, maxArgs: 0, flags: ["agent", "quiet"] },
    { name: "init", flags: ["force", "quiet"] },
  ],
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init --client pytest": "first tests",
    "svc-sandbox init --client node test/sandbox.test.mjs": "first tests in a file that you name",
    "svc-sandbox init --agent": "a section in AGENTS.md",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, and overwrite an existing file",
  },
  async run({ args, flags, io }) {
    const { client, agent } = flags;
    if (client === undefined && !agent) {
      writeStarter(args[0] ?? folderScenarioFile, flags, io);
      return;
    }

    const notes: string[] = [];
    if (client !== undefined) {
      const file = args[0] ?? clients[client].writtenTo;
      notes.push(...(await writeClientTests(client, file, io, flags)));
    }
    if (agent) notes.push(...(await writeAgentSection(io.cwd)));
    if (!flags.quiet) io.stderr.say(notes.map((line) => `${line}\n`).join(""));
  },
});

interface WriteFlags {
  readonly force?: boolean;
  readonly quiet?: boolean;
}

/** The schema's file name in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

/** Writes the starter scenario, and its schema next to it if no installed package has one. */
function writeStarter(name: string, flags: WriteFlags, io: Io): void {
  if (/\.json\w?$/i.test(name)) {
    const yamlName = name.replace(/json\w?$/i, "yaml");
    throw usageError(`The starter is YAML with comments, and JSON has none. Name ${quoteFile(yamlName)}.`);
  }

  const file = newFile(name, io.cwd, flags);
  const installed = installedFile(dirname(file), "dist/scenario.schema.json");
  writeProjectFile(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), name);

  // Editors use the schema for completion and checks. An existing copy may be the user's.
  const copy = join(dirname(file), schemaCopy);
  if (installed === undefined && (flags.force || !existsSync(copy))) {
    const schema = `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`;
    writeProjectFile(copy, schema, join(dirname(name), schemaCopy));
  }

  if (flags.quiet) return;
  const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
  const start = name === folderScenarioFile ? io.program : `${io.program} ${asFileArgument(name)}`;
  io.stderr.say(`Wrote ${name}${beside}. Start it with: ${start} --watch\n`);
}

/** Writes the first tests of a client into a file. Resolves to the lines that say what was written. */
async function writeClientTests(
  kind: ClientKind,
  name: string,
  io: Io,
  flags: WriteFlags,
): Promise<string[]> {
  const { example, exampleFile, script, runCommand } = clients[kind];
  // What is wrong with the project or the call shows before the first file is written.
  requireEnding(kind, name);
  const packageScript = script === undefined ? undefined : await packageJsonWithScript(script, io.cwd);
  await requireNeeds(kind, io);
  const file = newFile(name, io.cwd, flags);

  const text = await packageFile(`examples/${example}/${exampleFile}`);
  makeFolderFor(file);
  writeProjectFile(file, text, name);
  const folder = relative(io.cwd, dirname(file));
  const testFolder = folder === "" ? "." : shellWord(`./${folder}`);
  const run = runCommand(testFolder);
  // A client without npm, such as one in Python, has no script.
  if (packageScript === undefined) return [`Wrote ${name}.`, `Run it with: ${run}`];
  // The project has its own script of this name.
  if (!packageScript.isOurScript) {
    return [
      `Wrote ${name}. The script test:sandbox is unchanged.`,
      `Run it with: ${io.program} ${packageScript.execLine}`,
    ];
  }
  writeProjectFile(join(io.cwd, "package.json"), packageScript.packageJson);
  return [`Wrote ${name}, and the script test:sandbox.`, `Run it with: ${run}`];
}

/** Throws a usage error if the tests of a client are of another kind than a file of this name, such as a scenario. */
function requireEnding(kind: ClientKind, name: string): void {
  const { endings } = clients[kind];
  if (endings.some((ending) => name.endsWith(ending))) return;
  throw usageError(
    `First tests of ${kind} cannot be written to ${quoteFile(name)}: its name must end with ${listed(endings, "or")}. For a scenario, leave out --client.`,
  );
}
