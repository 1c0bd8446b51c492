import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noBrowser, openPage } from "./support/chromium-page.js";
import { doorDifferences, doorNames } from "./support/door-differences.js";
import { type Ended, runCommand } from "./support/running-command.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const root = join(import.meta.dirname, "..");
const documentFile = join(root, "docs/doors.md");
const documentText = readFileSync(documentFile, "utf8");
const packages = ["@mswjs", "express", "msw", "vitest"];

/** The code blocks of a text, under the last heading before each. */
function codeBlocks(text: string): { title: string; code: string }[] {
  const blocks = [];
  let heading = "";
  for (const match of text.matchAll(/^#+ (.+)$|^```(?:js|ts)\n([\s\S]*?)^```$/gm)) {
    if (match[1] !== undefined) heading = match[1];
    else blocks.push({ title: `${heading} (${blocks.length + 1})`, code: match[2] as string });
  }
  return blocks;
}

const readme = codeBlocks(readFileSync(join(root, "README.md"), "utf8"));
const document = codeBlocks(documentText);

/** The code with its comments taken at their word: `expression; // value` fails when the value is another. */
function checked(code: string): string {
  return code.replace(
    /^(.+); \/\/ (\d+|".*"|\[.*\])$/gm,
    (line, expression: string, value: string) => `{
  const found = JSON.stringify(${expression});
  if (found !== JSON.stringify(${value})) throw new Error(${JSON.stringify(line)} + " but it is " + found);
}`,
  );
}

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder({ "node_modules/.keep": "", ...files });
  for (const name of packages)
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  symlinkSync(root, join(folder, "node_modules/svc-sandbox"));
  return folder;
}

function run(command: string, files: Record<string, string>): Promise<Ended> {
  return runCommand(command, { cwd: folderWith(files) }).ended;
}

const handlersModule = document.find(({ code }) => code.startsWith("// handlers.mjs"))?.code ?? "";

const inVitest = (code: string) => code.includes('from "vitest"');
const inBrowser = (code: string) => code.includes('from "msw/browser"');
const inExpress = (code: string) => code.includes("app.listen(3000)");
const inNode = (code: string) =>
  code !== handlersModule && !inVitest(code) && !inBrowser(code) && !inExpress(code);

test.each([...readme, ...document].filter(({ code }) => inNode(code)))("$title runs", async ({ code }) => {
  expect(code).toMatch(/; \/\/ \d/);
  const { code: exit, stderr } = await run("node snippet.mjs", {
    "snippet.mjs": checked(code),
    "handlers.mjs": handlersModule,
  });
  expect(exit, stderr).toBe(0);
});

test.each([...readme, ...document].filter(({ code }) => inVitest(code)))("$title passes", async ({
  code,
}) => {
  const { code: exit, stdout } = await run("node node_modules/vitest/vitest.mjs run", {
    "bank.test.ts": code,
  });
  expect([exit, stdout]).toEqual([0, expect.stringMatching(/Tests +1 passed/)]);
});

test.each(document.filter(({ code }) => inExpress(code)))("$title serves", async ({ code }) => {
  const snippet = `${code.replace("app.listen(3000)", "app.listen(0)")}
await new Promise((resolve) => server.once("listening", resolve));
const at = "http://127.0.0.1:" + server.address().port;
const headers = { "x-api-key": sandbox.secret("active") };
(await fetch(at + "/v1/relying-party/me", { headers })).status; // 200
(await fetch(at + "/v1/relying-party/me")).status; // 401
(await fetch(at + "/health")).status; // 200
process.exit();`;
  const { code: exit, stderr } = await run("node snippet.mjs", { "snippet.mjs": checked(snippet) });
  expect(exit, stderr).toBe(0);
});

test.skipIf(noBrowser).each(document.filter(({ code }) => inBrowser(code)))(
  "$title runs",
  async ({ code }) => {
    const folder = folderWith({ "page.mjs": `${checked(code)}\nglobalThis.ready = true;\n` });
    const { close } = await openPage(join(folder, "page.mjs"));
    await close();
  },
);

test("--handlers serves what the handlers module says", async () => {
  const [, line = ""] = /^```sh\n(npx svc-sandbox --handlers .*)\n```$/m.exec(documentText) ?? [];
  const command = line.replace(
    "npx svc-sandbox",
    `node "${join(root, "bin/svc-sandbox.js")}" --port 0 --json`,
  );
  const running = runCommand(command, { cwd: folderWith({ "handlers.mjs": handlersModule }) });
  const { base_url, keys } = JSON.parse(await running.until(/\n/));
  const answer = await fetch(`${base_url}/v1/relying-party/attestations`, {
    headers: { "x-api-key": keys.active },
  });
  expect(await answer.json()).toEqual({ data: [], for: "Harvest Cooperative Bank" });
  expect((await running.stop()).code).toBe(0);
});

test("the table of differences is that of the conformance tests (UPDATE=1 rewrites it)", () => {
  const header = ["", ...doorNames, "why"];
  const rows = doorDifferences.map(({ request, ends, why }) => [
    request,
    ...doorNames.map((name) => ends[name]),
    why,
  ]);
  const lines = [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const written = documentText.replace(
    /(<!-- differences -->\n)[\s\S]*?(<!-- \/differences -->)/,
    (_all, start: string, end: string) => `${start}\n${lines.join("\n")}\n\n${end}`,
  );
  if (process.env.UPDATE) writeFileSync(documentFile, written);
  expect(readFileSync(documentFile, "utf8")).toBe(written);
});
