import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { packageFile } from "../../node/package-files.js";
import { SandboxError } from "../../rules/errors.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/scenario-json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { didYouMean, listed, quote, quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { unwritable, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { docsPlace, type Io } from "../io.js";
import { asFileArgument, folderScenarioFile } from "../scenario.js";
import * as shared from "../shared-flags.js";

/** The first tests of each kind of client: an example, and the file of the user's project that gets it. */
const clients = {
  vitest: { example: "exec/whoami.test.js", file: "test/whoami.test.js" },
  jest: { example: "exec/whoami.jest.cjs", file: "test/whoami.test.cjs" },
  node: { example: "exec/whoami.node.mjs", file: "test/whoami.test.mjs" },
  pytest: { example: "pytest/test_whoami.py", file: "tests/test_whoami.py" },
  junit: { example: "junit5/WhoamiTest.java", file: "src/test/java/WhoamiTest.java" },
  go: { example: "go/whoami_test.go", file: "whoami/whoami_test.go" },
} as const;
type ClientKind = keyof typeof clients;
const clientKinds = Object.keys(clients) as ClientKind[];

function readClient(text: string, from: string): ClientKind {
  const kind = clientKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw usageError(
    `Invalid ${from}: ${quote(text)}.${didYouMean(text, clientKinds)} First tests exist for ${listed(clientKinds, "and")}. For any other client, run your command with exec. Recipes: ${docsPlace("languages")}.`,
  );
}

export const initCommand = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes first tests instead, whose first lines show what to install and how to run them. Does not overwrite a scenario or tests without --force.",
  args: {
    "[file]": "the file to write (default: svc-sandbox.yaml, or a test of the client)",
  },
  flags: {
    force: flag.toggle("--force", "overwrite an existing file"),
    client: flag.option(
      "--client <kind>",
      `write first tests of a client: ${clientKinds.join(", ")}`,
      readClient,
    ),
    quiet: shared.quiet("only errors"),
  },
  examples: {
    "svc-sandbox init": "write svc-sandbox.yaml",
    "svc-sandbox init --client pytest": "first tests",
    "svc-sandbox init --client node test/sandbox.test.mjs": "first tests in a file that you name",
    "svc-sandbox init scenarios/bank.yaml --force": "write another file, and overwrite an existing file",
  },
  async run({ args, flags, io }) {
    const { client, force = false, quiet } = flags;
    let note: string;
    if (client === undefined) note = writeStarter(args[0] ?? folderScenarioFile, force, io);
    else note = await writeClientTests(client, args[0], force, io);
    if (!quiet) io.stderr.say(`${note}\n`);
  },
});

/** Copies the first tests of a client. Resolves to what was written. */
async function writeClientTests(
  kind: ClientKind,
  chosenName: string | undefined,
  force: boolean,
  { cwd }: Io,
): Promise<string> {
  const { example, file } = clients[kind];
  const name = chosenName ?? file;
  if (/\.ya?ml$/i.test(name)) {
    throw usageError(
      `init --client writes tests, and ${quoteFile(name)} is the name of a scenario. Use one.`,
    );
  }
  const path = newFile(name, cwd, force);
  const text = String(await packageFile(`examples/${example}`));
  writeFile(path, text, name);
  return `Wrote ${name}. Its first lines show what to install, and how to run it.`;
}

/** The schema's file name in the starter scenario: a copy next to it. */
const schemaCopy = "./svc-sandbox.schema.json";

/** Writes the starter scenario, and its schema next to it if no installed package has one. Returns what was written. */
function writeStarter(name: string, force: boolean, io: Io): string {
  if (!/\.ya?ml$/i.test(name)) {
    throw usageError(
      `init writes a scenario: the name ${quoteFile(name)} must end with .yaml. For first tests: ${io.program} init --client <kind>`,
    );
  }
  const file = newFile(name, io.cwd, force);
  const installed = installedFile(dirname(file), "dist/scenario.schema.json");
  writeFile(file, starterScenario.replace(schemaCopy, installed ?? schemaCopy), name);

  // Editors use the schema for completion and checks. An existing copy may be the user's.
  const copy = join(dirname(file), schemaCopy);
  if (installed === undefined && (force || !existsSync(copy))) {
    const schema = `${JSON.stringify(scenarioJsonSchema(scenarioNames), null, 2)}\n`;
    writeFile(copy, schema, join(dirname(name), schemaCopy));
  }
  const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
  const start = name === folderScenarioFile ? io.program : `${io.program} ${asFileArgument(name)}`;
  return `Wrote ${name}${beside}. Start it with: ${start} --watch`;
}

/** The file of this name. Throws if there is one that must not be overwritten. */
function newFile(name: string, cwd: string, force: boolean): string {
  const file = resolve(cwd, name);
  if (!existsSync(file)) return file;
  if (statSync(file).isDirectory()) throw usageError(`${quoteFile(name)} is a folder. Name a file.`);
  if (force) return file;
  throw new SandboxError(
    "file_exists",
    `${quoteFile(name)} already exists and is unchanged. Overwrite it with --force, or name another file.`,
  );
}

function writeFile(file: string, text: string, name: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (cause) {
    throw unwritable(cause, quoteFile(name));
  }
}

/** Returns the path from a folder to a file of the installed package. A package that `npx` downloaded is not found. */
function installedFile(folder: string, name: string): string | undefined {
  for (let above = folder; ; above = dirname(above)) {
    const path = join(above, "node_modules/svc-sandbox", name);
    if (existsSync(path)) {
      const fromFolder = relative(folder, path).replaceAll("\\", "/");
      return fromFolder.startsWith(".") ? fromFolder : `./${fromFolder}`;
    }
    if (above === dirname(above)) return undefined;
  }
}
