import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../../scripts/run-program.js";
import { missing, programPath } from "../support/programs.js";
import { listening } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The programs that tests and checks need: one list for the tests and for `.ci/run`.

const root = join(import.meta.dirname, "../..");

test("a missing program fails by name in CI, and is a reason to skip tests elsewhere", () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("HAPROXY_PATH", "/nowhere/haproxy");
  const problem =
    "haproxy is missing: /nowhere/haproxy does not exist. Run `apt-get install haproxy`, or set HAPROXY_PATH.";
  expect(() => programPath("haproxy")).toThrow(problem);
  vi.stubEnv("CI", "true");
  expect(missing("haproxy")).toBe(undefined);
  vi.stubEnv("CI", "");
  expect(missing("haproxy")).toBe(problem);
  expect(() => missing("sendmail")).toThrow("sendmail is missing in .ci/programs");
});

test("tests find programs only through the list", () => {
  const files = ["test", "bench"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
      .map((name) => join(folder, name)),
  );
  const support = ["programs", "property-seed"].map((name) => `test/support/${name}.ts`);
  const own = [...support, "test/package/programs.slow.test.ts"];
  const listed = programs().map(({ file }) => file);
  const offenders = files.filter((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const isCi = file.startsWith("test") && text.includes("process.env.CI ");
    return !own.includes(file) && (isCi || listed.some((path) => text.includes(`"${path}"`)));
  });
  expect(offenders).toEqual([]);
});

test(".ci/run installs every program of the list that is missing, in a home folder with npm's downloads only", () => {
  const bin = temporaryFolder({
    npm: `#!/bin/sh\n(cd "$HOME" && find . -mindepth 1) >"$HOME_BEFORE"\nexit 1\n`,
    "apt-get": `#!/bin/sh\necho "$@" >>"$APT_CALLS"\n`,
  });
  for (const name of ["npm", "apt-get"]) chmodSync(join(bin, name), 0o755);
  const calls = join(bin, "calls");
  const nowhere = programs().map(({ variable }) => [variable, "/nowhere"]);
  const home = join(bin, "home");
  const env = { ...process.env, ...Object.fromEntries(nowhere), APT_CALLS: calls, HOME_BEFORE: home };
  const run = () =>
    execFileSync(join(root, ".ci/run"), { env: { ...env, PATH: `${bin}:${process.env.PATH}` } });
  // `npm ci` fails here.
  expect(run).toThrow();
  expect(existsSync(calls)).toBe(true);
  expect(readFileSync(home, "utf8").trim().split("\n").sort()).toEqual(["./.npm", "./.npm/_cacache"]);
  const installed = readFileSync(calls, "utf8").split(/\s+/);
  expect(programs().filter(({ name }) => !installed.includes(name))).toEqual([]);
});

test.each([
  ["no weakness", 200, {}, "✓", 0],
  [
    "a weakness",
    200,
    { yaml: [{ severity: "low", title: "Loops", url: "https://example" }] },
    "yaml [\\d.]+: low, Loops",
    1,
  ],
  ["no list", 405, {}, "lists no weaknesses", 0],
])("the audit of bundled packages, in a registry with %s", async (_name, status, found, line, code) => {
  let asked: Record<string, string[]> = {};
  const registry = createServer(async (request, response) => {
    // npm also looks for its own newest version, once a day for each cache.
    if (request.url !== "/-/npm/v1/security/advisories/bulk") return response.writeHead(404).end();
    asked = JSON.parse(await text(request));
    return response.writeHead(status).end(JSON.stringify(found));
  });
  const address = `http://127.0.0.1:${await listening(registry)}/`;
  const argv = ["exec", "tsx", "scripts/audit.ts"];
  const first = { npm_config_cache: temporaryFolder(), npm_config_update_notifier: "true", CI: "" };
  const env = { ...first, npm_config_registry: address };
  const end = await runProgram("npm", argv, { cwd: root, env });
  expect([end.code, end.output]).toEqual([code, expect.stringMatching(line)]);
  expect(asked).toMatchObject({ express: [expect.any(String)] });
});

function programs() {
  const rows = readFileSync(join(root, ".ci/programs"), "utf8").matchAll(/^([a-z]\S*) +(\S+) +(\S+)/gm);
  return [...rows].map(([, program = "", file = "", name = ""]) => ({
    ...{ file, name },
    variable: `${program.toUpperCase().replaceAll("-", "_")}_PATH`,
  }));
}
