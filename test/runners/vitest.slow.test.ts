import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";
import { reportedIn } from "../support/report-file.js";
import { runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

// Vitest runs tests that use the fixtures as they are built.

const bank = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";

test("the server starts when a test first uses it, and the sandbox has the project's options", async () => {
  const cwd = userFolder({
    "bank.yaml": bank,
    "vitest.config.mjs": `export default { test: { provide: { sandboxOptions: { scenario: "bank.yaml", seed: 9 } } } };`,
    "lazy.test.mjs": `
      import { expect, test } from "svc-sandbox/vitest";
      const listens = () => process.getActiveResourcesInfo().includes("TCPServerWrap");
      test("one", async ({ sandbox, secret }) => {
        const headers = { "x-api-key": secret("main") };
        expect((await sandbox.fetch("https://any.example/v1/relying-party/me", { headers })).status).toBe(200);
        expect([sandbox.seed, listens()]).toEqual([9, false]);
      });
      test("two", ({ server, sandbox }) => {
        expect([server.url, listens()]).toEqual([expect.stringMatching(/^http:/), true]);
        expect(sandbox.keys.get("main").usage.today).toBe(0);
      });`,
    "own.test.mjs": `
      import { expect, test as base } from "svc-sandbox/vitest";
      const test = base.extend({ me: async ({ server, secret }, use) =>
        use((ref) => fetch(server.url + "/v1/relying-party/me", { headers: { "x-api-key": secret(ref) } })) });
      test.override({ sandboxOptions: { scenario: "revoked", frozen: false } });
      test("more fixtures", async ({ me, sandbox }) => {
        expect([(await me("revoked")).status, sandbox.clock.isFrozen()]).toEqual([401, false]);
      });`,
  });
  const { code, stdout } = await runCommand("node node_modules/vitest/vitest.mjs run", { cwd }).ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Tests +3 passed/)]);
});

test("under exec the fixtures have its scenario and options, and their requests count", async () => {
  const cwd = userFolder({
    "bank.yaml": bank,
    "joined.test.mjs": `
      import { expect, test } from "svc-sandbox/vitest";
      import { vi } from "vitest";
      const me = (server, key) =>
        fetch(server.url + "/v1/relying-party/me", { headers: { "x-api-key": key } }).then(({ status }) => status);
      test("revoked", async ({ server, secret, sandbox }) => {
        sandbox.keys.revoke("main");
        expect(await me(server, secret("main"))).toBe(401);
        expect(sandbox.requests.list().map(({ outcome, key }) => [outcome, key])).toEqual([["401.revoked", "main"]]);
        expect(() => secret("mian")).toThrow(expect.objectContaining({ code: "unknown_ref" }));
        expect(() => sandbox.keys.revoke("main")).toThrow(expect.objectContaining({ code: "key_not_active" }));
      });
      test("faults", async ({ server, secret, sandbox }) => {
        const outcome = async (then) => {
          sandbox.faults.set([{ when: { key: "main" }, then }]);
          const headers = { "x-api-key": secret("main") };
          const client = new AbortController();
          // It gives up once the server has its request.
          const isHanging = () => sandbox.requests.list({ outcome: "fault.hang" }).length > 0;
          if (then.hang) vi.waitUntil(isHanging, { timeout: 60_000 }).then(() => client.abort());
          const options = { headers, signal: client.signal };
          const response = await fetch(new URL("/v1/relying-party/me", server.url), options).catch(({ name }) => name);
          return response.text?.().then(() => response.status, ({ name }) => [response.status, name]) ?? response;
        };
        expect(await outcome({ reset: true })).toBe("TypeError");
        expect(await outcome({ truncate: true })).toEqual([200, "TypeError"]);
        expect(await outcome({ hang: true })).toBe("AbortError");
        expect(await outcome({ status: 503 })).toBe(503);
      });
      test("reset", async ({ server, secret, sandbox }) => {
        const at = Date.parse(sandbox.clock.now());
        expect([sandbox.seed, sandbox.profile, sandbox.clock.isFrozen()]).toEqual([9, "typical", true]);
        expect(await me(server, secret("main"))).toBe(200);
        expect(Date.parse(sandbox.clock.advance("61m")) - at).toBe(61 * 60_000);
        expect((await sandbox.fetch("https://any.example/v1/relying-party/me")).status).toBe(401);
        const rotated = sandbox.keys.rotate("main", { overlap: "0s" });
        expect([await me(server, secret("main")), await me(server, rotated.secret)]).toEqual([401, 200]);
      });`,
    "other.test.mjs": `
      import { expect, sandboxTest } from "svc-sandbox/vitest";
      const test = sandboxTest({ scenario: "live-suspended", seed: 3 });
      test("another scenario", ({ sandbox }) => {
        expect([sandbox.name, sandbox.seed]).toEqual(["live-suspended", 3]);
        expect(sandbox.farmers.count).toEqual(expect.any(Number));
      });`,
  });
  const argv = "exec bank.yaml --seed 9 --profile typical --report report.json --fail-on error";
  const command = `node node_modules/.bin/svc-sandbox ${argv} -- node node_modules/vitest/vitest.mjs run`;
  const { code, stdout } = await runCommand(command, { cwd }).ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Tests +4 passed/)]);
  expect(reportedIn(cwd)).toEqual({
    requests: 9,
    covered: [
      "200.test",
      "200.replacement",
      "401.missing",
      "401.revoked",
      "401.rotated",
      ...["status", "reset", "hang", "truncate"].map((kind) => `fault.${kind}`),
    ],
  });
});

/** Runs Vitest in a folder of its own, whose projects are its packages. */
async function runProjects(files: Readonly<Record<string, string>>) {
  const cwd = userFolder({
    "vitest.config.mjs": `export default { test: { projects: ["packages/*"] } };`,
    ...files,
  });
  return runCommand("node node_modules/vitest/vitest.mjs run", { cwd }).ended;
}

/** The configuration of a project, whose options name a scenario. */
const projectOf = (name: string, scenario: string) =>
  `export default { test: { name: "${name}", provide: { sandboxOptions: { scenario: "${scenario}" } } } };`;

test("the scenario file of a project is one of its folder, and an error names that folder", async () => {
  const { code, stdout, stderr } = await runProjects({
    "packages/a/my.yaml": bank,
    "packages/a/vitest.config.mjs": projectOf("a", "./my.yaml"),
    "packages/a/a.test.mjs": `
      import { expect, test } from "svc-sandbox/vitest";
      test("own", ({ sandbox, secret }) => {
        expect([sandbox.name, secret("main")]).toEqual(["./my.yaml", expect.stringMatching(/^SVC_test_/)]);
        let message;
        try { secret("active"); } catch (error) { message = error.message; }
        expect(message).toContain("./my.yaml");
      });`,
    "packages/b/vitest.config.mjs": projectOf("b", "./none.yaml"),
    "packages/b/b.test.mjs": `
      import { test } from "svc-sandbox/vitest";
      test("missing", ({ sandbox }) => void sandbox.name);`,
  });
  expect([code, stdout]).toEqual([1, expect.stringMatching(/Tests +1 failed \| 1 passed/)]);
  expect(stderr).toMatch(/none\.yaml.* The folder of this project is ".*packages\/b"/);
});

test("a concurrent test with the fixture sandbox fails with what to do; without it, it runs", async () => {
  const cwd = userFolder({
    "shared.test.mjs": `
      import { test } from "svc-sandbox/vitest";
      test.concurrent("pure", () => {});
      test.concurrent("shares it", ({ sandbox }) => void sandbox.name);`,
    "own.test.mjs": `
      import { createSandbox } from "svc-sandbox";
      import { expect, test } from "vitest";
      test.concurrent("has its own", () => expect(createSandbox().requests.total()).toBe(0));`,
  });
  const { code, stdout, stderr } = await runCommand("node node_modules/vitest/vitest.mjs run", { cwd }).ended;
  expect([code, stdout]).toEqual([1, expect.stringMatching(/Tests +1 failed \| 2 passed/)]);
  expect(stderr).toMatch(/"shares it" is concurrent.*createSandbox/);
});

test("the declarations of a test that extends the fixtures can be written", async () => {
  const options = { declaration: true, outDir: "out", rootDir: ".", skipLibCheck: true };
  const lib = ["es2022", "dom", "esnext.disposable"];
  const compilerOptions = { ...options, target: "es2022", module: "nodenext", strict: true, lib, types: [] };
  const cwd = userFolder({
    "tsconfig.json": JSON.stringify({ compilerOptions, include: ["*.ts"] }),
    "extended.ts": `
      import { type SandboxTest, sandboxTest, test as base } from "svc-sandbox/vitest";
      export const plain: SandboxTest = base;
      export const test = base.extend<{ url: string }>({ url: ({ server }, use) => use(server.url) });
      export const other = sandboxTest({ scenario: "rotation" }).extend<{ n: number }>({ n: ({}, use) => use(1) });`,
  });
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { code, stdout } = await runCommand(`node ${compiler} --project .`, { cwd }).ended;
  expect([code, stdout]).toEqual([0, ""]);
});
