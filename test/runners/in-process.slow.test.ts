import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import type { Certificate } from "../support/certify.js";
import { blockWith } from "../support/pages.js";
import { reportedIn } from "../support/report-file.js";
import { runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

// Sandboxes in processes of a command count in exec's report, and have the variant of certify's run.

const vitest = "node node_modules/vitest/vitest.mjs run";
const sandbox = "node node_modules/.bin/svc-sandbox";

/** The requests, the covered outcomes and the end of a command under exec. */
async function exec(cwd: string, command: string, flags = "") {
  const line = `${sandbox} exec ${flags} --report report.json -- ${command}`;
  const { code, stdout, stderr } = await runCommand(line, { cwd }).ended;
  return { code, stdout, stderr, ...reportedIn(cwd) };
}

const readme = blockWith("README.md", "ts", "setupServer");

describe("a suite with handlers of msw, as the README has it", () => {
  test.each(["forks", "vmThreads"])("is counted under Vitest with %s", async (pool) => {
    const cwd = userFolder({ "me.test.ts": readme });
    const { code, requests, covered } = await exec(cwd, `${vitest} --pool ${pool}`);
    expect([code, requests, covered]).toEqual([0, 2, ["200.live", "401.expired"]]);
  });
});

const call = `
  import { createSandbox } from "svc-sandbox";
  const sandbox = createSandbox();
  const me = (ref, one = sandbox) =>
    one.fetch("https://any.example/v1/relying-party/me", { headers: { "x-api-key": one.secret(ref) } });`;

test("node --test is counted: a port and a sandbox of one file once each, over all resets", async () => {
  const cwd = userFolder({
    "me.test.mjs": `
      import assert from "node:assert/strict";
      import { test } from "node:test";
      import { startServer } from "svc-sandbox/node";
      ${call}
      test("both", async () => {
        const server = await startServer();
        const headers = { "x-api-key": server.sandbox.secret("live") };
        for (const url of [server.url, process.env.SVC_BASE_URL])
          assert.equal((await fetch(url + "/v1/relying-party/me", { headers })).status, 200);
        assert.equal((await me("active")).status, 200);
        sandbox.reset();
        assert.equal((await me("revoked")).status, 401);
        const seen = await fetch(process.env.SVC_CONTROL_URL + "/expect?outcome=401.revoked&count=1");
        assert.equal(seen.status, 200);
        await server.close();
      });`,
  });
  const { code, requests, covered } = await exec(cwd, "node --test");
  expect([code, requests, covered]).toEqual([0, 4, ["200.test", "200.live", "401.revoked"]]);
});

test.each([
  ["a killed process", `await me("active"); process.kill(process.pid, "SIGKILL");`, 137],
  [
    "a terminated worker",
    `import { isMainThread, parentPort, Worker } from "node:worker_threads";
     if (isMainThread) {
       const worker = new Worker(new URL(import.meta.url));
       worker.once("message", () => worker.terminate());
     } else {
       await me("active");
       parentPort.postMessage("responded");
     }`,
    0,
  ],
])("%s loses nothing that was responded", async (_, text, code) => {
  const cwd = userFolder({ "client.mjs": `${call}\n${text}` });
  expect(await exec(cwd, "node client.mjs")).toMatchObject({ code, requests: 1, covered: ["200.test"] });
});

test("a sandbox that gets no request counts nothing, and leaves no folder", async () => {
  const cwd = userFolder({
    "client.mjs": `${call}\nconsole.log(process.env.SVC_SANDBOX_RUN, sandbox.seed);`,
  });
  const { code, requests, stdout } = await exec(cwd, "node client.mjs", "--seed 7");
  const [folder = "", seed] = stdout.trim().split(" ");
  expect([code, requests, seed]).toEqual([4, 0, "7"]);
  expect(folder.startsWith(tmpdir())).toBe(true);
  expect(existsSync(folder)).toBe(false);
});

test("sandboxes take exec's scenario, seed, start, frozen clock and fault, unless they set their own", async () => {
  const cwd = userFolder({
    "client.mjs": `${call}
      const own = createSandbox({ scenario: "rotation", seed: 3, now: "2030-01-01T00:00:00Z", frozen: false });
      const shown = (one) => [one.name, one.seed, one.clock.now().slice(0, 10), one.clock.isFrozen(), one.profile];
      console.log(JSON.stringify({ plain: shown(sandbox), own: shown(own), status: (await me("revoked")).status }));`,
  });
  const flags =
    "revoked --seed 7 --now 2028-01-01T00:00:00Z --frozen --profile typical --fault fault.status@401.revoked";
  const { stdout, covered } = await exec(cwd, "node client.mjs", flags);
  expect(JSON.parse(stdout)).toEqual({
    plain: ["revoked", 7, "2028-01-01", true, "typical"],
    own: ["rotation", 3, "2030-01-01", false, "typical"],
    status: 503,
  });
  expect(covered).toEqual(["fault.status"]);
});

test("sandboxes of another version are named, and count nothing", async () => {
  const cwd = userFolder({
    "client.mjs": `
      import { readFileSync, writeFileSync } from "node:fs";
      const file = process.env.SVC_SANDBOX_RUN + "/run.json";
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file)), version: "0.0.1" }));
      const { createSandbox } = await import("svc-sandbox");
      await createSandbox().fetch("https://any.example/v1/relying-party/me");`,
  });
  const { code, requests, stderr } = await exec(cwd, "node client.mjs");
  expect([code, requests, stderr]).toEqual([
    4,
    0,
    expect.stringContaining("the run is of svc-sandbox 0.0.1"),
  ]);
});

test("requests that cannot be written are named once, and get their responses", async () => {
  const cwd = userFolder({
    "client.mjs": `
      import { rmSync } from "node:fs";
      ${call}
      rmSync(process.env.SVC_SANDBOX_RUN, { recursive: true });
      console.log((await me("active")).status, (await me("active")).status);`,
  });
  const { stdout, stderr } = await runCommand(`${sandbox} exec -- node client.mjs`, { cwd }).ended;
  expect([stdout, stderr.match(/could not count/g)]).toEqual(["200 200\n", ["could not count"]]);
});

const suite = `
  import { setupServer } from "msw/node";
  import { createSandbox } from "svc-sandbox";
  import { createHandlers } from "svc-sandbox/msw";
  import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

  const { MISTAKE: mistake, OPTIONS = "{}" } = process.env;
  const sandbox = createSandbox({ scenario: "key-states", ...JSON.parse(OPTIONS) });
  const server = setupServer(...createHandlers(sandbox, { baseUrl: "https://api.example" }));
  beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
  afterEach(() => sandbox.reset());
  afterAll(() => server.close());

  async function me(ref) {
    const headers = { "x-api-key": sandbox.secret(ref) };
    const send = () => fetch("https://api.example/v1/relying-party/me", { headers });
    let response = await send();
    for (let n = 0; n < 3 && mistake === "resends" && response.status === 401; n++) response = await send();
    const { error } = await response.json();
    if (mistake === "code" && response.status === 429) expect(error.code).toBe("rate_limited");
    return response.status;
  }
  test.each([["active", 200], ["active", 200], ["revoked", 401], ["expired", 401], ["wrong-scope", 403], ["rate-limited", 429]])(
    "%s", async (ref, status) => expect(await me(ref)).toBe(status));`;

/** The certificate of a suite with msw. */
async function certify(env: Record<string, string>, flags: string) {
  const cwd = userFolder({ "me.test.mjs": suite });
  const line = `${sandbox} certify ${flags} --format json -- ${vitest}`;
  const { code, stdout } = await runCommand(line, { cwd, env }).ended;
  return { code, ...(JSON.parse(stdout) as Certificate) };
}

describe("certify varies a suite with msw", () => {
  test("a clean client passes, and notices the wrong answers", async () => {
    const { code, verdict, problems } = await certify({}, "--only answer --only varied.1 --only resend.401");
    expect([code, verdict, problems]).toEqual([0, "passed", []]);
  }, 600_000);

  test("a client that compares the code of a 429 has this cause, also if its sandbox sets the profile", async () => {
    const env = { MISTAKE: "code", OPTIONS: '{"profile":"minimal"}' };
    const { code, problems } = await certify(env, "--only varied");
    const sentences = problems.map(({ sentence }) => sentence);
    expect([code, sentences]).toEqual([1, [expect.stringMatching(/^Breaks when a 429 has the code /)]]);
  }, 600_000);

  test("a client that resends a 401 has this finding", async () => {
    const { code, problems } = await certify({ MISTAKE: "resends" }, "--only resend.401");
    expect([code, problems.map(({ name }) => name)]).toEqual([1, ["resend.401"]]);
  }, 600_000);

  test("a seed that the tests set is not judged with others, and is named", async () => {
    const { code, verdict, checks } = await certify({ OPTIONS: '{"seed":2}' }, "--only varied.1");
    const varied = checks.find(({ name }) => name === "varied.1");
    expect([code, verdict]).toEqual([5, "not_judged"]);
    expect(varied?.why).toMatch(/^your code sets the seed 2$/);
  });

  test.each([
    ["", 0, "passed"],
    [" --retry=2", 5, "not_judged"],
  ])("vitest%s exits with %i: what repeats failing tests hides who resends", async (retry, code, verdict) => {
    const cwd = userFolder({ "me.test.mjs": suite });
    const run = await runCommand(`${sandbox} certify --only resend.401 --format json -- ${vitest}${retry}`, {
      cwd,
    }).ended;
    const certificate = JSON.parse(run.stdout);
    expect([run.code, certificate.verdict, certificate.problems]).toEqual([code, verdict, []]);
  });
});

test("the sandboxes of a run have the same variants in each of three processes", async () => {
  const cwd = userFolder({
    "three.mjs": `
      import { spawnSync } from "node:child_process";
      const seen = [1, 2, 3].map(() => String(spawnSync(process.execPath, ["one.mjs"]).stdout));
      if (new Set(seen).size !== 1 || seen[0].length < 100) throw new Error(seen.join("\\n"));`,
    "one.mjs": `${call}
      const response = await me("active");
      const { data } = await response.json();
      const { organization, scopes } = data;
      const names = [...response.headers.keys()].filter((name) => name !== "date");
      const type = response.headers.get("content-type");
      process.stdout.write(JSON.stringify({ names, type, members: Object.keys(data), organization, scopes }));`,
  });
  expect(await exec(cwd, "node three.mjs", "--profile varied --seed 5")).toMatchObject({
    code: 0,
    requests: 3,
  });
});
