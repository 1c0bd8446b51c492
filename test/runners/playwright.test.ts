import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chromiumFlags, noBrowser } from "../support/chromium-page.js";
import { coverageText } from "../support/coverage.js";
import { programPath } from "../support/programs.js";
import { runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

// Playwright runs tests that use the fixtures as they are built.

interface Attachment {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}
interface Suite {
  readonly suites?: readonly Suite[];
  readonly specs: readonly {
    readonly title: string;
    readonly tests: readonly {
      readonly results: readonly {
        readonly status: string;
        readonly attachments: readonly Attachment[];
        readonly error?: { readonly message: string };
      }[];
    }[];
  }[];
}

const specsOf = ({ suites = [], specs }: Suite): Suite["specs"][number][] => [
  ...specs,
  ...suites.flatMap(specsOf),
];

/** Runs the files; returns each test's title, result and attachments. */
async function run(files: Readonly<Record<string, string>>, under = "") {
  const cwd = userFolder(files, ["@playwright", "playwright", "playwright-core"]);
  const command = `${under}node node_modules/@playwright/test/cli.js test --reporter=json`;
  const { stdout } = await runCommand(command, { cwd }).ended;
  const { suites } = JSON.parse(stdout) as { suites: readonly Suite[] };
  const tests = suites.flatMap(specsOf).map(({ title, tests }) => ({ title, ...tests[0]?.results[0] }));
  const report = under === "" ? undefined : JSON.parse(readFileSync(join(cwd, "report.json"), "utf8"));
  return { tests, report };
}

const bank = `version: 1
clock: { frozen: false }
organizations:
  bank: { type: bank, keys: { main: { environment: test }, ended: { environment: test, state: revoked } } }
`;

test("each worker has its own sandbox and server, and the covered paths are attached", async () => {
  const inWorker = (own: string, other: string) => `
    import { existsSync, readFileSync, writeFileSync } from "node:fs";
    import { expect, test } from "svc-sandbox/playwright";
    test("${own}", async ({ request, server, secret, sandbox }) => {
      writeFileSync("${own}.tmp", server.url);
      const headers = { "x-api-key": secret("main") };
      const response = await request.get("/v1/relying-party/me", { headers });
      expect((await response.json()).data.usage.today).toBe(1);
      await expect.poll(() => existsSync("${other}.tmp"), { timeout: 50_000 }).toBe(true);
      expect(readFileSync("${other}.tmp", "utf8")).not.toBe(server.url);
      expect([sandbox.requests.total(), sandbox.clock.isFrozen()]).toEqual([1, true]);
    });
    test("${own} fails", async ({ request, secret }) => {
      const headers = { "x-api-key": secret("ended") };
      expect((await request.get("/v1/relying-party/me", { headers })).status()).toBe(200);
    });
    test("${own} requests nothing", ({ sandbox }) => expect(sandbox.name).toBe("A bank"));`;
  const { tests } = await run({
    "bank.yaml": `name: A bank\n${bank}`,
    "playwright.config.mjs": `export default {
      workers: 2, timeout: 60_000, use: { sandboxOptions: { scenario: "bank.yaml" } } };`,
    "one.spec.mjs": inWorker("one", "two"),
    "two.spec.mjs": inWorker("two", "one"),
  });
  const seen = tests.map(({ title, status, attachments = [] }) => [
    title,
    status,
    ...attachments
      .filter(({ name }) => name === "svc-sandbox")
      .map(({ body }) => Buffer.from(body, "base64").toString().split("\n").slice(0, 3).join("\n")),
  ]);
  const coverage = `# ${coverageText(1)}. No advice.`;
  const ofEach = (own: string) => [
    [own, "passed", `- GET /v1/relying-party/me, main: 200.test\n\n${coverage}`],
    [`${own} fails`, "failed", `- GET /v1/relying-party/me, ended: 401.revoked\n\n${coverage}`],
    [`${own} requests nothing`, "passed"],
  ];
  expect(seen).toEqual([...ofEach("one"), ...ofEach("two")]);
  expect(JSON.stringify(tests)).not.toMatch(/SVC_test_sbx/);
});

test.skipIf(noBrowser)(
  "a page has the server for its base URL unless the configuration has another, and its requests to the API's address reach the sandbox, faults included",
  async () => {
    const launch = { executablePath: programPath("chromium"), chromiumSandbox: false, args: chromiumFlags };
    const { tests } = await run({
      "playwright.config.mjs": `export default { use: { launchOptions: ${JSON.stringify(launch)},
      sandboxOptions: { intercept: "https://api.example/base/**" } } };`,
      "page.spec.mjs": `
      import { expect, test } from "svc-sandbox/playwright";
      const me = (page, key) => page.evaluate((key) =>
        fetch("https://api.example/base/v1/relying-party/me?a=b", { headers: { "x-api-key": key } }).then(
          async (response) => [response.status, await response.json()], (error) => error.name), key);
      test("page", async ({ page, secret, sandbox }) => {
        expect((await page.goto("/v1/relying-party/me")).status()).toBe(401);
        expect(await me(page, secret("active"))).toEqual([200, { data: expect.objectContaining({ environment: "test" }) }]);
        sandbox.faults.set([{ when: { key: "active" }, then: { reset: true } }]);
        expect(await me(page, secret("active"))).toBe("TypeError");
        expect(sandbox.requests.list().map(({ pathId }) => pathId)).toEqual(["401.missing", "200.test", "fault.reset"]);
      });
      test.describe(() => {
        test.use({ baseURL: "http://127.0.0.1:1" });
        test("other", ({ baseURL }) => expect(baseURL).toBe("http://127.0.0.1:1"));
      });`,
    });
    expect(tests.map(({ title, status, error }) => [title, error?.message ?? status])).toEqual([
      ["page", "passed"],
      ["other", "passed"],
    ]);
  },
);

test("under exec the fixtures are an instance of its sandbox, which counts their requests", async () => {
  const { tests, report } = await run(
    {
      "bank.yaml": `name: A bank\n${bank}`,
      "playwright.config.mjs": `export default { use: { sandboxOptions: { seed: 4 } } };`,
      "own.spec.mjs": `
      import { expect, test } from "svc-sandbox/playwright";
      test("own", async ({ request, secret, sandbox }) => {
        const headers = { "x-api-key": secret("ended") };
        expect((await request.get("/v1/relying-party/me", { headers })).status()).toBe(401);
        expect([sandbox.name, sandbox.seed, sandbox.requests.total()]).toEqual(["bank.yaml", 4, 1]);
      });`,
    },
    "node node_modules/.bin/svc-sandbox exec bank.yaml --fail-on error --report report.json -- ",
  );
  expect(tests.map(({ title, status, error }) => [title, error?.message ?? status])).toEqual([
    ["own", "passed"],
  ]);
  expect(report).toMatchObject({ requests: 1, coverage: { met: 1 } });
});
