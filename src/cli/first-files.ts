import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isMapping, parsedJson } from "../domain/json.js";
import { packageFile, version } from "../node/package-files.js";
import { quote } from "../schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import { newFile } from "./files.js";

export const clientKinds = ["vitest", "pytest", "junit"] as const;
type ClientKind = (typeof clientKinds)[number];

interface Client {
  /** The folder of the project for copies of these examples. */
  readonly folder: string;
  readonly examples: readonly string[];
  /** The command that runs the tests. */
  readonly command: string;
  /** The steps of the workflow before the tests. */
  readonly setup: readonly string[];
}

// Not on npm: the tarball is part of the user's project.
const tarball = `npm install --no-save vendor/svc-sandbox-${version}.tgz`;
const clients: Readonly<Record<ClientKind, Client>> = {
  vitest: {
    folder: "test",
    examples: ["vitest-exec/whoami.test.js"],
    command: "vitest run",
    setup: ["run: npm ci"],
  },
  pytest: {
    folder: "tests",
    examples: ["pytest/conftest.py", "pytest/test_whoami.py"],
    command: "python3 -m pytest",
    setup: [`run: ${tarball}`, "run: python3 -m pip install pytest"],
  },
  junit: {
    folder: "src/test/java",
    examples: ["junit5/SvcSandboxExtension.java", "junit5/WhoamiTest.java"],
    command: "mvn --quiet test",
    setup: [
      `run: ${tarball}`,
      "uses: actions/setup-java@v4\n        with: { distribution: temurin, java-version: 21 }",
    ],
  },
};

const sandboxed = (command: string) => `exec key-states --format brief --fail-on warning -- ${command}`;

const script = (command: string) => `#!/bin/sh
# Runs the tests with a sandbox: the program in SVC_SANDBOX_BIN, svc-sandbox on the PATH, or the package of npm.
if [ -n "$SVC_SANDBOX_BIN" ]; then exec "$SVC_SANDBOX_BIN" ${sandboxed(command)} "$@"; fi
if command -v svc-sandbox > /dev/null; then exec svc-sandbox ${sandboxed(command)} "$@"; fi
exec npx --no-install svc-sandbox ${sandboxed(command)} "$@"
`;

const workflow = (setup: readonly string[], run: string) => `name: Sandbox
on: [push, pull_request]
jobs:
  sandbox:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
${[...setup, `run: ${run}`].map((step) => `      - ${step}\n`).join("")}`;

/** Writes the first tests of a client, a script and a workflow; resolves to lines for people. Replaces no file unless forced. */
export async function writeClientFiles(
  kind: ClientKind,
  cwd: string,
  force: { readonly force?: boolean },
): Promise<string[]> {
  const { folder, examples, command, setup } = clients[kind];
  const inNpm = kind === "vitest";
  const run = inNpm ? "npm run test:sandbox" : "sh test-sandbox.sh";
  const copies = examples.map(
    async (path): Promise<[string, string]> => [
      `${folder}/${basename(path)}`,
      (await packageFile(`examples/${path}`)).toString(),
    ],
  );
  const texts: Record<string, string> = {
    ...Object.fromEntries(await Promise.all(copies)),
    ...(!inNpm && { "test-sandbox.sh": script(command) }),
    ".github/workflows/sandbox.yml": workflow(setup, run),
  };
  const files = Object.entries(texts).map(([name, text]) => [newFile(name, cwd, force), text] as const);
  for (const [file, text] of files) await write(file, text);
  if (inNpm) await addScript(join(cwd, "package.json"), `svc-sandbox ${sandboxed(command)}`);
  return [
    `Wrote ${Object.keys(texts).join(", ")}${inNpm ? ", and the script test:sandbox" : ""}.`,
    `Run it with: ${run}`,
  ];
}

async function addScript(file: string, line: string): Promise<void> {
  const text = existsSync(file) ? await readFile(file, "utf8") : "{}";
  const project = parsedJson(text);
  if (!isMapping(project))
    throw usageError(`Failed to add a script to ${quote(file)}: it is not valid JSON.`);
  const scripts = { "test:sandbox": line, ...(project.scripts as object | undefined) };
  await write(file, `${JSON.stringify({ ...project, scripts }, null, 2)}\n`);
}

const heading = "## svc-sandbox";

/** Adds a section to the AGENTS.md of a folder that points to that of the package; resolves to lines for people. */
export async function writeAgentSection(cwd: string): Promise<string[]> {
  const file = resolve(cwd, "AGENTS.md");
  const before = existsSync(file) ? await readFile(file, "utf8") : "";
  if (before.includes(heading))
    return [`AGENTS.md already has the section ${quote(heading)}; nothing was changed.`];
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  if (installed === undefined) await write(resolve(cwd, copy), (await packageFile("AGENTS.md")).toString());
  const section = `${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format brief -- <command>\`.
`;
  await write(file, before === "" ? section : `${before.trimEnd()}\n\n${section}`);
  return [`Added a section to AGENTS.md.`];
}

async function write(file: string, text: string): Promise<void> {
  const failed = unwritable(quote(file));
  await mkdir(dirname(file), { recursive: true })
    .then(() => writeFile(file, text), failed)
    .catch(failed);
}

/** The path from a folder to a file of the package that is installed there; `npx` keeps its own out of sight. */
export function installedFile(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules/svc-sandbox", name);
    if (existsSync(path))
      return relative(folder, path)
        .replaceAll("\\", "/")
        .replace(/^(?!\.)/, "./");
    if (at === dirname(at)) return undefined;
  }
}
