import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as msw from "msw";
import * as mswNode from "msw/node";
import { expect, test, vi } from "vitest";
import * as core from "../src/index.js";
import * as ourMsw from "../src/msw/index.js";
import { codeBlocks, docExamples, runExample } from "./support/documented-code.js";

const root = join(import.meta.dirname, "..");
const document = readFileSync(join(root, "docs/library.md"), "utf8");
const modules = { "svc-sandbox": core, "svc-sandbox/msw": ourMsw, msw, "msw/node": mswNode };

const definition = "const me = (sandbox, ref) =>";
const blocks = codeBlocks(document);
const me = (sandbox: core.Sandbox, ref: string) =>
  sandbox.fetch("https://any.example/v1/relying-party/me", {
    headers: { "x-api-key": sandbox.secret(ref) },
  });

/** How many comments of an example say what is to come of the line. */
const claimsIn = (code: string) => code.split("; // ").length - 1;

test.each(
  blocks.filter(({ code }) => !code.startsWith(definition)),
)("docs/library.md, $title: runs, and its comments are true", async ({ code }) => {
  const imported = /import \{[^}]*\bcreateSandbox\b/.test(code) ? {} : { createSandbox: core.createSandbox };
  expect(await runExample(code, modules, { ...imported, me, vi })).toBe(claimsIn(code));
});

test("docs/library.md says what the examples call the API with", () => {
  expect(blocks.filter(({ code }) => code.startsWith(definition))).toHaveLength(1);
});

const documented = [
  "src/library/create-sandbox.ts",
  "src/library/guard.ts",
  "src/scenario/parse-scenario.ts",
];

const examples = documented.flatMap((file) => docExamples(readFileSync(join(root, file), "utf8")));

test("what the core door exports as functions is documented with an example", () => {
  expect(examples.map(({ title }) => title)).toEqual(["createSandbox", "guard", "parseScenario"]);
});

test.each(examples)("the example of $title runs, and its comments are true", async ({ title, code }) => {
  const sandbox = core.createSandbox();
  const given = { ...core, ...msw, sandbox };
  // The example of guard makes a handler; what that answers is the business of another test.
  const known = title === "createSandbox" ? { ...core } : given;
  expect(await runExample(code, modules, known)).toBe(claimsIn(code));
});

test("docs/library.md lists every refusal of the library, by its code", () => {
  const rooms = ["library", "sandbox", "scenario"].map((room) => join(root, "src", room));
  const thrown = rooms
    .flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: "utf8" }).map((file) => join(room, file)),
    )
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...readFileSync(file, "utf8").matchAll(/(?:new SandboxError|super)\(\s*"(\w+)"/g)])
    .map((match) => match[1] as string);
  const rows = [...document.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| /gm)];
  const listed = rows.flatMap((match) => (match[1] as string).match(/\w+/g) ?? []);
  expect(thrown).toContain("key_limit_reached");
  expect(thrown).toContain("scenario_invalid");
  expect([...new Set(thrown)].filter((code) => !listed.includes(code))).toEqual([]);
});
