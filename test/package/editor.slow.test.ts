import { spawnSync } from "node:child_process";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";

const file = join(root, "editor-test.ts");
let content = "";
let version = 0;
const textOf = (name: string) => (name === file ? content : ts.sys.readFile(name));
const settings = { strict: true, module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 };
const service = ts.createLanguageService({
  getCompilationSettings: () => settings,
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  getScriptFileNames: () => [file],
  getScriptVersion: (name) => (name === file ? String(version) : "1"),
  getScriptSnapshot: (name) => ts.ScriptSnapshot.fromString(textOf(name) ?? ""),
  fileExists: (name) => name === file || ts.sys.fileExists(name),
  readFile: textOf,
});

const imports = `import { createSandbox } from "./dist/esm/index.js";
import { startServer } from "./dist/esm/node.js";
import { sandboxTest } from "./dist/esm/vitest.js";`;

/** What an editor suggests at the bar, with whether it shows a description. */
function suggested(text: string): Map<string, boolean> {
  const marked = `${imports}\n${text}`;
  const at = marked.indexOf("|");
  content = marked.replace("|", "");
  version += 1;
  const { entries = [] } = service.getCompletionsAtPosition(file, at, {}) ?? {};
  const fields = entries.filter(({ kind }) => kind === "property" || kind === "method" || kind === "string");
  return new Map(
    fields.map(({ name }) => {
      const { documentation = [] } =
        service.getCompletionEntryDetails(file, at, name, {}, undefined, {}, undefined) ?? {};
      return [name, documentation.length > 0];
    }),
  );
}

const inside = (fields: string) =>
  `createSandbox({ scenario: { version: 1, organizations: { bank: { ${fields} } } } });`;

test.each([
  ["an organization", inside("|"), ["type", "live_access", "keys"]],
  ["a key", inside('type: "bank", keys: { main: { | } }'), ["environment", "usage", "overlap_ends"]],
  ...["createSandbox", "startServer", "sandboxTest"].map((name): [string, string, string[]] => [
    `a scenario in ${name}`,
    `${name}({ scenario: { | } });`,
    ["version", "organizations"],
  ]),
  ["the keys of a sandbox", "createSandbox().keys.|", ["list", "get", "create", "rotate", "revoke"]],
  ["organizations", "createSandbox().organizations.|", ["list", "get", "update"]],
])("an editor describes every member of %s", (_what, text, some) => {
  const members = suggested(text);
  expect([...members.keys()]).toEqual(expect.arrayContaining(some));
  expect([...members].filter(([, isDescribed]) => !isDescribed)).toEqual([]);
  expect([...members.keys()]).not.toContain("charAt");
});

test("an editor suggests the bundled scenarios, and the refs of their keys", () => {
  expect([...suggested('createSandbox({ scenario: "|" });').keys()]).toContain("rotation");
  expect([...suggested('createSandbox({ scenario: "rotation" }).keys.get("|");').keys()]).toContain(
    "retiring",
  );
});

test("the sources have no error in the compiler that editors take from node_modules", () => {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "--noEmit"], { cwd: root, encoding: "utf8" });
  expect(stdout).toBe("");
}, 600_000);
