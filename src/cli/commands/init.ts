import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { writeFileAtomically } from "../../node/files/write-file.js";
import { packageFile } from "../../node/package-files.js";
import { isExecutable } from "../../node/platform.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../scenario/format/json-schema.js";
import { starterScenario } from "../../scenario/starter.generated.js";
import { parsedJson } from "../../spec/schema/json.js";
import { isMapping } from "../../spec/schema/shape.js";
import { quote } from "../../spec/schema/words.js";
import { declareCommand, oneOf, option, toggle } from "../command.js";
import { exitCode, tryToWrite, unwritable, usageError } from "../exit-codes.js";
import { newFile } from "../files.js";
import { force, quiet } from "../flags.js";
import { ownScenario } from "../open-scenario.js";

/** The examples for `init --client`, and the project's folder for their tests. */
const clients = {
  vitest: { example: "vitest-exec", folder: "test", tests: ["whoami.test.js"] },
  pytest: { example: "pytest", folder: "tests", tests: ["conftest.py", "test_whoami.py"] },
  junit: {
    example: "junit5",
    folder: "src/test/java",
    tests: ["SvcSandboxExtension.java", "WhoamiTest.java"],
  },
  go: { example: "go", folder: "whoami", tests: ["svcsandbox/svcsandbox.go", "whoami_test.go"] },
} as const;
type ClientKind = keyof typeof clients;
const clientKinds = Object.keys(clients) as ClientKind[];

export const command = declareCommand({
  summary: "write a commented scenario to start from, or the first tests of a client",
  description:
    "Writes a commented starter scenario. It names its JSON Schema for editors: the installed package's, or a copy next to the file. With --client it writes a first test, a script that runs it and a workflow for GitHub instead; with --agent a section for coding agents. Does not overwrite a file without --force.",
  words: { "[file]": "the file to write (default: svc-sandbox.yaml, which start finds automatically)" },
  flags: {
    force,
    client: option(
      "--client <kind>",
      "write first tests of a client: vitest, pytest, junit, go",
      oneOf(clientKinds),
      { variables: [] },
    ),
    agent: toggle(
      "--agent",
      "add a section to AGENTS.md that points coding agents to the package's AGENTS.md",
      { variables: [] },
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
      if (!flags.quiet) io.stderr.write(written.map((line) => `${line}\n`).join(""));
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
      const start = io.program + (name === ownScenario ? "" : ` ${startable(name)}`);
      const beside = installed === undefined ? `, with ${schemaCopy.slice(2)} for editors next to it` : "";
      io.stderr.write(`Wrote ${name}${beside}. Start it with: ${start} --watch\n`);
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

/**
 * Writes the first tests of a client, a script and a workflow; resolves to lines for people. Keeps existing files unless
 * forced.
 */
async function writeClientFiles(
  kind: ClientKind,
  cwd: string,
  force: { readonly force?: boolean },
): Promise<string[]> {
  const { example, folder, tests } = clients[kind];
  const inNpm = kind === "vitest";
  const copies = [
    ...tests.map((name) => [name, `${folder}/${name}`] as const),
    ...(inNpm ? [] : [["test-sandbox.sh", "test-sandbox.sh"] as const]),
    ["sandbox.yml", ".github/workflows/sandbox.yml"] as const,
  ];
  const files = copies.map(([from, name]) => ({
    from: `examples/${example}/${from}`,
    file: newFile(name, cwd, force),
  }));
  const rename = kind === "go" ? await inModule(cwd, folder) : (text: Buffer) => text;
  for (const { from, file } of files) await write(file, rename(await packageFile(from)));
  if (inNpm) await addScript(join(cwd, "package.json"));
  const names = copies.map(([, name]) => name).join(", ");
  return [
    `Wrote ${names}${inNpm ? ", and the script test:sandbox" : ""}.`,
    `Run it with: ${inNpm ? "npm run test:sandbox" : "sh test-sandbox.sh"}`,
  ];
}

/** Returns a function that replaces the module of the example by a folder of the user's module. */
async function inModule(cwd: string, folder: string): Promise<(text: Buffer) => string> {
  const module = /^module\s+(\S+)/m.exec(await readFile(join(cwd, "go.mod"), "utf8").catch(() => ""))?.[1];
  if (module === undefined)
    throw usageError("This folder has no go.mod with a module: run `go mod init` first.");
  return (text) => String(text).replaceAll("example.com/whoami", `${module}/${folder}`);
}

async function addScript(file: string): Promise<void> {
  const project = parsedJson(existsSync(file) ? await readFile(file, "utf8") : "{}");
  if (!isMapping(project))
    throw usageError(`${quote(file)} is not valid JSON, so no script was added to it.`);
  const line = "svc-sandbox exec key-states --format brief --fail-on warning -- vitest run";
  const scripts = { "test:sandbox": line, ...(project.scripts as object | undefined) };
  await write(file, `${JSON.stringify({ ...project, scripts }, null, 2)}\n`);
}

const heading = "## svc-sandbox";

/** Adds a section to a folder's AGENTS.md that points to the package's AGENTS.md; resolves to lines for people. */
async function writeAgentSection(cwd: string): Promise<string[]> {
  const file = resolve(cwd, "AGENTS.md");
  const before = existsSync(file) ? await readFile(file, "utf8") : "";
  if (before.includes(heading))
    return [`AGENTS.md already has the section ${quote(heading)}; nothing was changed.`];
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  // A machine with the single executable may have no npx.
  const startable = (text: string) => (isExecutable() ? text.replaceAll("npx --no-install ", "") : text);
  if (installed === undefined)
    await write(resolve(cwd, copy), startable(String(await packageFile("AGENTS.md"))));
  const section = startable(`${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format brief -- <command>\`.
`);
  await write(file, before === "" ? section : `${before.trimEnd()}\n\n${section}`);
  return [`Added a section to AGENTS.md.`];
}

async function write(file: string, text: string | Buffer): Promise<void> {
  const failed = unwritable(quote(file));
  await mkdir(dirname(file), { recursive: true })
    .then(() => writeFile(file, text), failed)
    .catch(failed);
}

/** Returns the path from a folder to a file of the installed package. A package that `npx` downloaded is not found. */
function installedFile(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules/svc-sandbox", name);
    if (existsSync(path))
      return relative(folder, path)
        .replaceAll("\\", "/")
        .replace(/^(?!\.)/, "./");
    if (at === dirname(at)) return undefined;
  }
}
