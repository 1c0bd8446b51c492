import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorld } from "../src/node/platform.js";
import { parseScenario } from "../src/scenario/parse-scenario.js";
import { installedFolder } from "./support/installed.js";
import { type RunningCommand, runCommand } from "./support/running-command.js";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map((match) => ({
  language: match[1] as string,
  text: match[2] as string,
}));
const shell = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);

const user = installedFolder();
let server: RunningCommand;
let port: string;

beforeAll(async () => {
  // The first block, word by word, except that a port is taken which is certainly free.
  expect(shell[0]).toBe("npx svc-sandbox\n");
  server = runCommand(shell[0] as string, { cwd: user.folder, env: { SVC_SANDBOX_PORT: "0" } });
  const printed = await server.until(/listening on http:\/\/127\.0\.0\.1:(\d+)/);
  port = /127\.0\.0\.1:(\d+)/.exec(printed)?.[1] as string;
});

afterAll(async () => {
  await server.stop();
  user.remove();
});

/** A block of the README whose text has these words; fails when there is none. */
function block(words: string): string {
  const found = shell.find((text) => text.includes(words));
  expect(found, `a block with ${words}`).toBeDefined();
  return (found as string).replaceAll("127.0.0.1:4747", `127.0.0.1:${port}`);
}

test("the first curl lines give 200, 401, 403 and 429", async () => {
  const { code, stdout } = await runCommand(block("curl -i"), { cwd: user.folder }).ended;
  expect(code).toBe(0);
  expect([...stdout.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1])).toEqual([
    "200",
    "401",
    "403",
    "429",
  ]);
});

test("the loop shows all states, as the table says", async () => {
  const { stdout } = await runCommand(block("while IFS=="), { cwd: user.folder }).ended;
  const statuses = new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ").reverse() as [string, string]),
  );
  expect(statuses.size).toBe(15);
  for (const [, keys = "", status] of readme.matchAll(/^\| (`[a-z-]+`.*?) \| (\d{3})/gm)) {
    for (const [, ref = ""] of keys.split(";")[0]?.matchAll(/`([a-z-]+)`/g) ?? []) {
      const name = `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`;
      expect([name, statuses.get(name)]).toEqual([name, status]);
      statuses.delete(name);
    }
  }
  expect([...statuses.keys()]).toEqual([]);
});

test("explain, list and show print what the README says of them", async () => {
  const explained = await runCommand(block("explain"), { cwd: user.folder }).ended;
  expect(explained.stdout).toContain("403.live_suspended");
  const listed = await runCommand(block("svc-sandbox list"), { cwd: user.folder }).ended;
  expect(listed.stdout).toContain(readFileSync(join(root, "scenarios/rotation.yaml"), "utf8"));
  expect([explained.code, listed.code]).toEqual([0, 0]);
});

test("exec prints what the README says of a client that sends a revoked key twice", async () => {
  const client = `const { SVC_BASE_URL, SVC_API_KEY, SVC_KEY_REVOKED } = process.env;
for (const key of [SVC_API_KEY, SVC_KEY_REVOKED, SVC_KEY_REVOKED])
  await fetch(SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": key } });`;
  writeFileSync(join(user.folder, "client.mjs"), client);
  writeFileSync(join(user.folder, "package.json"), '{ "scripts": { "test": "node client.mjs" } }');
  const { code, stderr } = await runCommand(block("svc-sandbox exec"), { cwd: user.folder }).ended;
  expect(code).toBe(0);
  const printed = stderr.split("\n");
  const shown = blocks.find(({ language, text }) => language === "text" && text.includes("Coverage"));
  const lines = shown?.text.trimEnd().split("\n") ?? [];
  const missing = lines.filter((line) => line.trim() !== "…" && !printed.includes(line));
  expect([missing, lines.length > 10]).toEqual([[], true]);
});

test("a scenario of one's own is written, checked and served until it is stopped", async () => {
  const running = runCommand(block("svc-sandbox init"), { cwd: user.folder, env: { SVC_SANDBOX_PORT: "0" } });
  await running.until(/listening on/);
  expect(existsSync(join(user.folder, "svc-sandbox.yaml"))).toBe(true);
  expect((await running.stop()).stderr).not.toMatch(/fail/i);
});

test("for scripts it prints one line of JSON and writes an env file", async () => {
  const running = runCommand(block("--write-env"), { cwd: user.folder });
  const line = await running.until(/\n/);
  const { event, base_url, keys } = JSON.parse(line);
  expect([event, Object.keys(keys).length]).toEqual(["listening", 15]);
  const written = readFileSync(join(user.folder, "sandbox.env"), "utf8");
  expect(written).toContain(`SVC_BASE_URL=${base_url}\n`);
  expect(written).toContain(`SVC_API_KEY=${keys.active}\n`);
  expect((await running.stop()).stdout).toBe(line);
});

test("the scenario in the README is one", () => {
  const yaml = blocks.filter(({ language }) => language === "yaml");
  expect(yaml).toHaveLength(1);
  const world = openWorld(parseScenario(yaml[0]?.text ?? ""));
  expect([...world.registry.keys.keys()]).toEqual(["main", "ends-soon", "slow-lane"]);
});

test("every block is run by a test, those of a clone by CI", () => {
  const run = [
    "npx svc-sandbox\n",
    "curl -i",
    "while IFS==",
    "explain",
    "svc-sandbox exec",
    "svc-sandbox list",
    "svc-sandbox init",
    "--write-env",
    "npm ci",
  ];
  expect(shell.filter((text) => !run.some((words) => text.includes(words)))).toEqual([]);
});

test("links lead somewhere", () => {
  for (const [, target = ""] of readme.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
    expect([target, existsSync(join(root, target))]).toEqual([target, true]);
  }
});
