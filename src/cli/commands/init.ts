import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { packageFile } from "../../node/package-files.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { quote, quoteFile } from "../../schema/words.js";
import { clientFlag, meantClient, writeClientTests } from "../client-tests.js";
import { declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { type Io, isExecutable } from "../io.js";
import { installedFile, newFile, readProjectFile, writeProjectFile } from "../project-files.js";
import { docsPlace } from "../running-sandbox.js";
import { asFileArgument, folderScenarioFile } from "../scenario.js";
import * as shared from "../shared-flags.js";

export const initCommand = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes first tests instead, if the project has what they need; with --agent a section for coding agents. Does not overwrite a scenario or tests without --force.",
  args: {
    "[file]": "the file to write (default: svc-sandbox.yaml, or a test of the client)",
  },
  flags: {
    force: flag.cliOnlyToggle("--force", "overwrite an existing file"),
    client: clientFlag,
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
      const [word = ""] = args;
      const meant = meantClient(word);
      if (meant !== undefined) {
        throw usageError(
          `${quote(word)} is a kind of client. Did you mean ${io.program} init --client ${meant}? For a scenario in a file of this name, write ./${word}.`,
        );
      }
      writeStarter(args[0] ?? folderScenarioFile, flags, io);
      return;
    }

    const notes: string[] = [];
    if (client !== undefined) {
      notes.push(...(await writeClientTests(client, args[0], io, flags)));
    }
    if (agent) notes.push(...(await writeAgentSection(io.cwd)));
    if (!flags.quiet) io.stderr.say(notes.map((line) => `${line}\n`).join(""));
  },
});

/** The schema's file name in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

/** Writes the starter scenario, and its schema next to it if no installed package has one. */
function writeStarter(
  name: string,
  flags: { readonly force?: boolean; readonly quiet?: boolean },
  io: Io,
): void {
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

const heading = "## svc-sandbox";

/** Adds a section to AGENTS.md, in which other sections stay. Resolves to the lines that say so. */
export async function writeAgentSection(cwd: string): Promise<string[]> {
  const file = resolve(cwd, "AGENTS.md");
  const before = (await readProjectFile(cwd, "AGENTS.md")) ?? "";
  const hasSection = before.split("\n").some((line) => line.trimEnd() === heading);
  if (hasSection) {
    return [`AGENTS.md already has the section ${quote(heading)}; nothing was changed.`];
  }

  // If no package is installed, a copy of its file stands next to the new one. An existing copy may be the user's.
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  if (installed === undefined && !existsSync(resolve(cwd, copy))) {
    const text = String(await packageFile("docs/agents.md"));
    writeProjectFile(resolve(cwd, copy), asStartedHere(text));
  }

  const section = asStartedHere(`${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format json -- <command>\`.
`);
  const after = before === "" ? section : `${before.trimEnd()}\n\n${section}`;
  // The file keeps its line ends.
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  writeProjectFile(file, after.replace(/\r?\n/g, lineEnd));
  return ["Added a section to AGENTS.md."];
}

/** A text for coding agents as this program is started: a machine with the single executable may have no npx, and has no files of the package. */
function asStartedHere(text: string): string {
  if (!isExecutable()) return text;
  const withoutNpx = text.replaceAll("npx --no-install ", "");
  return withoutNpx.replace("`docs/` next to this file", docsPlace(""));
}
