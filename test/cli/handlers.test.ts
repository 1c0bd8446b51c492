import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCommand } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The built command, because the handlers' own imports are Node's business, not those of a test runner.
const root = join(import.meta.dirname, "../..");
const bin = `"${process.execPath}" "${join(root, "bin/svc-sandbox.js")}"`;
const attestations = "/v1/relying-party/attestations";

const guarded = `
import { HttpResponse, http } from "msw";
import { guard } from "svc-sandbox";

export default [
  http.get("${attestations}", ({ request }) => {
    const { refusal, caller } = guard(request, { scope: "attestations:read" });
    return refusal ?? HttpResponse.json({ data: [], bank: caller.organization.name });
  }),
  http.get("/throws", ({ request }) => {
    throw new Error("no " + request.headers.get("x-api-key"));
  }),
];
`;

function folderWith(
  files: Record<string, string>,
  packages: readonly string[] = ["msw", "svc-sandbox"],
): string {
  const folder = temporaryFolder({ "node_modules/.keep": "", ...files });
  for (const name of packages) {
    symlinkSync(name === "msw" ? join(root, "node_modules/msw") : root, join(folder, "node_modules", name));
  }
  return folder;
}

function start(module: string, cwd: string) {
  const running = runCommand(`${bin} --port 0 --json --handlers ${module}`, { cwd });
  onTestFinished(async () => void (await running.stop()));
  return running;
}

async function listening(running: ReturnType<typeof start>) {
  const { base_url, keys } = JSON.parse(await running.until(/\n/));
  const get = (path: string, key?: string) =>
    fetch(base_url + path, key === undefined ? {} : { headers: { "x-api-key": keys[key] } });
  return { get, keys };
}

test.each([
  ["handlers.mjs", guarded],
  [
    "handlers.mjs",
    guarded.replace("export default", "export default async ({ sandbox }) => sandbox.name && "),
  ],
  [
    "handlers.cjs",
    guarded
      .replace(/import (.*) from (".*");/g, "const $1 = require($2);")
      .replace("export default", "exports.handlers ="),
  ],
])("R19 R46 --handlers %s serves guarded handlers beside the API (%#)", async (file, code) => {
  const running = start(file, folderWith({ [file]: code }));
  const { get, keys } = await listening(running);
  const answers = await Promise.all([
    get(attestations, "active"),
    get(attestations, "live-not-approved"),
    get(attestations),
    get("/v1/relying-party/me", "active"),
    get("/v1/relying-party/nothing"),
    get("/throws", "active"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 403, 401, 200, 404, 500]);
  expect(await answers[0]?.json()).toEqual({ data: [], bank: "Harvest Cooperative Bank" });
  const { code: exit, stderr } = await running.stop();
  expect(exit).toBe(0);
  expect(stderr).toMatch(
    /A handler failed, and its request was answered with 500: Error: no SVC_test_.*\n +at .*handlers\./,
  );
  expect(stderr).toMatch(/attestations +403 live_access_not_approved/);
  expect(stderr).not.toContain(keys.active);
  expect(stderr).not.toContain("defect");
});

test("what handlers leave running does not keep a stopped command alive", async () => {
  const code = "setInterval(() => {}, 1000); export default [];";
  const running = start("handlers.mjs", folderWith({ "handlers.mjs": code }));
  await listening(running);
  expect((await running.stop()).code).toBe(0);
});

test.each([
  ["no such file", {}, /^Failed to load the handlers from "h\.mjs": there is no such file\.\n$/],
  [
    "a syntax error",
    { "h.mjs": "export const a = 1;\nexport default [;\n" },
    /^Failed to load the handlers from "h\.mjs": it is not JavaScript\.\n\S*h\.mjs:2\nexport default \[;\n +\^\n\nSyntaxError: .*\n$/,
  ],
  [
    "a module that throws",
    { "h.mjs": '\nthrow new Error("not configured");' },
    /^Failed to load the handlers from "h\.mjs": not configured \(line 2\)\n$/,
  ],
  [
    "an import that is not there",
    { "h.mjs": 'import "./data.mjs";' },
    /^Failed to load the handlers from "h\.mjs": Cannot find module '.*data\.mjs' imported from .*h\.mjs\n$/,
  ],
  [
    "nothing of use",
    { "h.mjs": "export const get = 1;" },
    /exports no list of msw handlers.* as default or as `handlers`\.\n$/,
  ],
  [
    "a list of other things",
    { "h.mjs": "export default [() => {}];" },
    /number 1 of them is none\. Make it with msw's `http`\.\n$/,
  ],
  [
    "a function that throws",
    { "h.mjs": 'export default () => { throw new Error("no data"); };' },
    /^Failed to make the handlers: no data\n$/,
  ],
])("%s ends with 2 and says what is wrong", async (_what, files, says) => {
  const ran = await runCommand(`${bin} --port 0 --handlers h.mjs`, { cwd: folderWith(files) }).ended;
  expect(ran).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
});

test.each([
  ["an ES module", "h.mjs", 'import { http } from "msw"; export default [];'],
  ["a CommonJS module", "h.cjs", 'const { http } = require("msw"); exports.handlers = [];'],
])("msw that is not installed is told from the place of the handlers: %s", async (_what, file, code) => {
  const cwd = folderWith({ [file]: code }, []);
  const ran = await runCommand(`${bin} --port 0 --handlers ${file}`, { cwd }).ended;
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toMatch(
    /^Failed to use the handlers: msw is not installed where \S+h\.[mc]js looks for it\. Run `npm install --save-dev msw`\.\n$/,
  );
});
