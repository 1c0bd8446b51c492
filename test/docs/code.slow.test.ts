import { once } from "node:events";
import { readFileSync } from "node:fs";
import * as files from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMiddleware } from "@mswjs/http-middleware";
import express from "express";
import * as msw from "msw";
import * as mswNode from "msw/node";
import { expect, onTestFinished, test, vi } from "vitest";
import * as core from "../../src/index.js";
import * as ourMsw from "../../src/integrations/msw.js";
import * as ourNode from "../../src/server/index.js";
import { noBrowser, openPage } from "../support/chromium-page.js";
import { compile } from "../support/compile.js";
import { type Block, blocksOf, blockWith, root } from "../support/pages.js";
import { runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";
import { claimsChecked, docExamples, runExample } from "./examples.js";

// The JavaScript and TypeScript of the pages runs, and its comments are true.

const definitionOfMe = blockWith("docs/library.md", "js", "const me = (sandbox, ref) =>\n");

const titles = ["javascript", "frameworks", "library"];
const blocks = ["README.md", ...titles.map((one) => `docs/${one}.md`)]
  .flatMap(blocksOf)
  .filter(({ language, text }) => ["js", "ts"].includes(language) && text !== definitionOfMe)
  // Their packages are not installed: these are in test/docs/frameworks.test.ts, and in the matrix.
  .filter(
    ({ title }) =>
      !/, (?:Next\.js|SvelteKit|Storybook|Fastify|jsdom|Jest|node:test|Playwright|Vitest \()/.test(title),
  );
const titled = (of: (block: Block) => boolean) =>
  blocks.filter(of).map((block) => [block.title, block.text] as const);
const inVitest = ({ text }: Block) => text.includes('from "vitest"');
const inBrowser = ({ text }: Block) => text.includes('from "msw/browser"');
const serves = ({ text }: Block) => text.includes("app.listen(3000)");

/** How many comments of an example say what is to come of the line. */
const claimsIn = (code: string) => code.split("; // ").length - 1;

const me = (sandbox: core.Sandbox, ref: string) =>
  sandbox.fetch("https://any.example/v1/relying-party/me", { headers: { "x-api-key": sandbox.secret(ref) } });

function modules() {
  return {
    "svc-sandbox": core,
    "svc-sandbox/msw": ourMsw,
    "svc-sandbox/node": ourNode,
    "node:fs/promises": files,
    msw,
    "msw/node": mswNode,
    express: { default: express },
    "@mswjs/http-middleware": { createMiddleware },
  };
}

test.each(titled((block) => ![inVitest, inBrowser, serves].some((of) => of(block))))(
  "%s: runs, and its comments are true",
  async (_title, text) => {
    // The page sets where the files of the package are; other tests run in this process.
    onTestFinished(() => ourNode.setPackageReader((path) => files.readFile(join(root, path))));
    const imported = /import \{[^}]*\bcreateSandbox\b/.test(text)
      ? {}
      : { createSandbox: core.createSandbox };
    expect(await runExample(text, modules(), { ...imported, me, vi })).toBe(claimsIn(text));
  },
);

test.each(titled(inVitest))("%s: passes", async (_title, text) => {
  const cwd = userFolder({ "bank.test.ts": text });
  const { code, stdout } = await runCommand("node node_modules/vitest/vitest.mjs run", { cwd }).ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Tests +1 passed/)]);
});

test.each(titled(serves))("%s: serves", async (_title, text) => {
  let opened: [server?: Server, sandbox?: core.Sandbox] = [];
  const code = `${text.replace("app.listen(3000)", "app.listen(0)")}\nopen(server, sandbox);`;
  await runExample(code, modules(), {
    open(...them: typeof opened) {
      opened = them;
    },
  });
  const [server, sandbox] = opened as [Server, core.Sandbox];
  onTestFinished(() => void server.close());
  if (!server.listening) await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const headers = { "x-api-key": sandbox.secret("active") };
  const statusOf = async (path: string, init = {}) => (await fetch(base + path, init)).status;
  const me = "/v1/relying-party/me";
  expect([await statusOf(me), await statusOf(me, { headers })]).toEqual([401, 200]);
  expect(await statusOf("/health")).toBe(text.includes("/health") ? 200 : 404);
  const order = { method: "POST", headers: { "content-type": "application/json" }, body: '{"seed":"maize"}' };
  if (text.includes("/orders")) expect(await (await fetch(`${base}/orders`, order)).text()).toBe(order.body);
});

test.skipIf(noBrowser).each(titled(inBrowser))("%s: runs in a page", async (_title, text) => {
  const check =
    "(line, found, told) => { if (JSON.stringify(found) !== JSON.stringify(told)) throw Error(line); }";
  const code = `const check = ${check};\n${claimsChecked(text)}\nglobalThis.ready = true;\n`;
  const folder = userFolder({ "page.mjs": code });
  await (await openPage(join(folder, "page.mjs"))).close();
});

test("every example compiles in TypeScript, except the lines that show an error", async () => {
  const typed = blocks.map(({ text }) => {
    const code = text.replace(/^.*; \/\/ throws \w+\n/gm, "");
    const used = /import \{[^}]*\bcreateSandbox\b/.test(code)
      ? ""
      : 'import { createSandbox } from "svc-sandbox";\n';
    const hasMe = /^const me = /m.test(code);
    const given = hasMe ? "" : "declare const me: (sandbox: unknown, ref: string) => Promise<Response>;\n";
    const vi = /import .*\bvi\b/.test(code) ? "" : 'import { vi } from "vitest";\n';
    return used + vi + given + code;
  });
  const files = typed.map((code, index) => [`example-${index + 1}.ts`, code]);
  const packages = ["msw", "vitest", "express", "@mswjs", "@types"];
  const folder = userFolder(Object.fromEntries(files), packages);
  // The examples are short: they catch errors without a type, and expect their own data.
  const loose = { strict: false, skipLibCheck: true, resolveJsonModule: true, types: ["node"] };
  const problems = await compile(folder, {
    ...loose,
    target: "esnext",
    module: "esnext",
    moduleResolution: "bundler",
  });
  expect(problems).toEqual([]);
});

const documented = ["library/create-sandbox.ts", "scenario/scenario-source.ts"];
const examples = documented.flatMap((file) => docExamples(readFileSync(join(root, "src", file), "utf8")));

test("every function of svc-sandbox has an example", () => {
  expect(examples.map(({ title }) => title)).toEqual(["createSandbox", "parseScenario"]);
});

test.each(examples)("the example of $title runs, and its comments are true", async ({ title, code }) => {
  const given = title === "createSandbox" ? { ...core } : { ...core, ...msw, sandbox: core.createSandbox() };
  expect(await runExample(code, modules(), given)).toBe(claimsIn(code));
});

test("docs/javascript.md and docs/frameworks.md have each setup that the matrix runs with other versions", async () => {
  // Throws for a heading without code.
  const { cells } = await import("../../scripts/matrix/cells.js");
  expect(cells.filter(({ files }) => files !== undefined)).not.toEqual([]);
});
