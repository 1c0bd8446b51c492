import { expect, test } from "vitest";
import { runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

// Vitest runs tests that use the fixtures as they are built.

test("the server starts when a test asks for it, and options of a project are the sandbox's", async () => {
  const cwd = userFolder({
    "bank.yaml":
      "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n",
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
