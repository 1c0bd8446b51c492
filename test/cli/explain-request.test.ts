import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { createSandbox, parseScenario, type Scenario } from "../../src/index.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { control } from "../support/call-control.js";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { listening, served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// `explain` with the id of a request: from a rejection to its cause.

const secret = createSandbox().secret("active");
const real = "SVC_test_RealKeyThatNobodyShouldSee1";
const causes: Readonly<Record<string, readonly [headers: Record<string, string>, says: RegExp]>> = {
  "401.malformed": [{ "x-api-key": `"${secret}"` }, /43 characters, a quotation mark first/],
  "401.unknown": [
    { "x-api-key": secret.slice(0, -1) },
    /40 characters: 1 less than .*\n[\s\S]*warning key-cut/,
  ],
  "401.revoked": [{ key: "revoked" }, /revoked since 2026-03-02T09:00:00Z/],
  "403.insufficient_scope": [{ key: "wrong-scope" }, /attestations:read/],
  "403.live_suspended": [{ key: "live-suspended" }, /suspended/],
  "429.per_day": [{ key: "rate-limited" }, /allows 0 requests a day/],
  "404.unknown_path": [
    { key: "active", path: "/v1/relying-party/mee" },
    /Call exactly GET \/v1\/relying-party\/me/,
  ],
  "fault.status": [{ key: "legacy" }, /fault\.status/],
};

const frozen = {
  scenario: "key-states",
  frozen: true,
} as const;

test.each(Object.entries(causes))(
  "the cause of %s is found from the id of its request",
  async (path, [given, says]) => {
    const { url, sandbox } = await served(frozen);
    sandbox.faults.set([{ when: { key: "legacy" }, then: { status: 503 } }]);
    const { key, path: target = mePath, ...sent } = given;
    const headers = {
      ...sent,
      ...(key && { "x-api-key": sandbox.secret(key as "active") }),
      "user-agent": `bank/1 ${real}`,
    };
    for (let i = 0; i < 2; i++) await fetch(url + target, { headers });
    const [first, last] = sandbox.requests.list();
    const explain = (word: string) => runCli(["explain", word, "--url", url]);
    const { code, stdout } = await explain(first?.id ?? "");
    expect(code).toBe(0);
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toMatch(new RegExp(says.source.replaceAll("\\n", " "), "s"));
    for (const part of [path, "bank/1", first?.id, last?.id, "What to do"]) expect(text).toContain(part);
    for (const part of [real, secret, secret.slice(-12)]) expect(stdout).not.toContain(part);
    expect((await explain("last")).stdout).toContain(String(last?.id));
  },
);

test("explain prints the text of GET /requests/{id}, with the requests around it", async () => {
  const { url, sandbox } = await served(frozen);
  const headers = { "x-api-key": sandbox.secret("revoked") };
  for (let i = 0; i < 2; i++) await fetch(url + mePath, { headers });
  const id = sandbox.requests.list()[1]?.id ?? "";
  const { data } = (await (await fetch(`${url}/__sandbox/requests/${id}`)).json()) as {
    data: { text: string; around: readonly { id: string }[] };
  };
  expect(data.text).toMatch(
    / {2}rejected +key .*\n[\s\S]*\nRequests with this key\n.*\n {3}this one {2}401\.revoked/,
  );
  expect(data.around.map((one) => one.id)).toEqual(sandbox.requests.list().map((one) => one.id));
  expect((await runCli(["explain", id, "--url", url])).stdout).toBe(`${data.text}\n`);
});

test("explain shows no other request of a request without a key: these may be of anybody", async () => {
  const { url, sandbox } = await served(frozen);
  await fetch(`${url}/favicon.ico`);
  for (let i = 0; i < 2; i++) await fetch(url + mePath);
  const id = sandbox.requests.list()[0]?.id ?? "";
  const { data } = (await (await fetch(`${url}/__sandbox/requests/${id}`)).json()) as {
    data: { text: string; around: readonly { id: string }[] };
  };
  expect(data.around.map((one) => one.id)).toEqual([id]);
  expect(data.text).not.toContain("Requests with this key");
});

test("the last rejection is a client's, and not a later one of the story", async () => {
  const { url, controlUrl, sandbox } = await served(frozen);
  await fetch(url + mePath, { headers: { "x-api-key": sandbox.secret("revoked") } });
  await control(controlUrl, "POST /send", { key: "expired" });
  const [own, story] = sandbox.requests.list();
  expect([own?.outcome, story?.outcome]).toEqual(["401.revoked", "401.expired"]);
  expect((await runCli(["explain", "last", "--url", url])).stdout).toContain(own?.id);
});

const uuid = "6f1c2e9a-3b4d-4c5e-8f90-a1b2c3d4e5f6";
const withUuid = `version: 1\norganizations: { bank: { type: bank, keys: { ${uuid}: { environment: test } } } }\n`;

test("a UUID that is the ref of a key means the key with a scenario, and a request without one", async () => {
  const cwd = temporaryFolder({ "own.yaml": withUuid });
  const { code, stdout } = await runCli(["explain", uuid, "own.yaml", "--json"], { cwd });
  expect([code, code === 0 && JSON.parse(stdout).outcome]).toEqual([0, "200.test"]);
  const { url } = await served({ scenario: parseScenario(withUuid) });
  const running = await runCli(["explain", uuid, "--url", url]);
  expect([running.code, running.stderr]).toEqual([2, expect.stringContaining("There is no request")]);
});

describe("an id", () => {
  test("that the journal does not have ends with 2 and a hint, and is never explained as a key", async () => {
    const { url } = await served();
    const id = "req_bc8550a0796dcd92217f3541";
    const gone = await runCli(["explain", id, "--url", url]);
    expect([gone.code, gone.stdout, gone.stderr]).toEqual([
      2,
      "",
      expect.stringContaining("There is no request"),
    ]);
    const none = await runCli(["explain", "last", "--url", url]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("has rejected no request")]);
    const stopped = await runCli(["explain", id, "--url", "http://127.0.0.1:1"]);
    expect([stopped.code, stopped.stderr]).toEqual([2, expect.stringContaining("nothing listens")]);
  });
});

describe("a key", () => {
  const asked = async (url: string, word: string, ...more: string[]) => {
    const env = { SVC_CONTROL_URL: `${url}/__sandbox` };
    const { code, stdout } = await runCli(["explain", word, ...more, "--json"], { env });
    return [code, code === 0 ? JSON.parse(stdout).outcome : stdout];
  };

  test("is explained as the running sandbox has it; with a scenario or its flags, as that would respond", async () => {
    const { url, sandbox } = await served(frozen);
    sandbox.keys.revoke("active");
    expect(await asked(url, "active")).toEqual([0, "401.revoked"]);
    expect(await asked(url, secret)).toEqual([0, "401.revoked"]);
    expect(await asked(url, "active", "key-states")).toEqual([0, "200.test"]);
    expect(await asked(url, "active", "--seed", "0")).toEqual([0, "200.test"]);
    const { key } = sandbox.keys.create({ organization: "harvest-bank", environment: "test", name: "Later" });
    expect(await asked(url, key.ref)).toEqual([0, "200.test"]);
    expect(await asked(url, "none")).toEqual([0, "401.missing"]);
    expect(await asked(url, "malformed")).toEqual([0, "401.malformed"]);
    expect(await asked(url, "nope")).toEqual([2, ""]);
    const { stderr } = await runCli(["explain", "active", "key-states", "--url", url]);
    expect(stderr).toContain("--url");
    const env = { SVC_CONTROL_URL: `${url}/__sandbox`, SVC_SANDBOX_SEED: "0" };
    expect((await runCli(["explain", key.ref], { env })).code).toBe(0);
  });

  test.each(["last", "req_bc8550a0796dcd92217f3541"])(
    "is not meant by %s, which is a request: a scenario is a word too many",
    async (word) => {
      const { code, stdout, stderr } = await runCli(["explain", word, "key-states"]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toBe('explain of a request does not use "key-states". Remove it.\n');
    },
  );

  test("is explained alike by a running sandbox and by its scenario, also if it is no key of it", async () => {
    const faults: Scenario["faults"] = [
      { when: { outcome: "401.unknown" }, then: { status: 503 } },
      { then: { latency: "10ms" } },
    ];
    const scenario: Scenario = { ...bundledScenarios["key-states"], faults };
    const cwd = temporaryFolder({ "own.json": JSON.stringify(scenario) });
    const { url, sandbox } = await served({ scenario, frozen: true });
    const unknown = sandbox.secret("unknown");
    for (const word of ["active", "none", "unknown", "malformed", unknown, real, `${secret}x`, '"']) {
      const explained = async (argv: string[]) => {
        const { stdout } = await runCli(["explain", word, ...argv, "--json"], { cwd });
        const { url: _, at: __, ...rest } = JSON.parse(stdout);
        return rest;
      };
      const running = await explained(["--url", url]);
      expect(running).toEqual(await explained(["own.json", "--frozen"]));
      expect(running).toMatchObject({ key_of_another_sandbox: false });
      const isUnknown = running.outcome === "401.unknown";
      expect(running.fault_outcomes).toEqual([isUnknown ? "fault.status" : "fault.latency"]);
    }
  });

  test("R35 R46 never leaves the command: its hash is compared there", async () => {
    const sent: string[] = [];
    const { url, sandbox } = await served(frozen);
    const proxy = createServer((request, response) => {
      sent.push(`${request.url} ${JSON.stringify(request.headers)}`);
      fetch(url + request.url).then(async (reply) => response.end(await reply.text()));
    });
    const front = `http://127.0.0.1:${await listening(proxy)}`;
    for (const key of [secret, secret.replace("SVC_test_", "SVC_live_"), real]) await asked(front, key);
    expect(sent.length).toBeGreaterThan(3);
    for (const key of [secret, real]) expect(sent.join("\n")).not.toContain(key.slice(-12));
    expect(sandbox.requests.list()).toEqual([]);
  });
});

describe("last", () => {
  test("as JSON has no line that a terminal breaks", async () => {
    const { url, sandbox } = await served(frozen);
    await fetch(url + mePath, { headers: { "x-api-key": sandbox.secret("revoked") } });
    const json = async (terminal: boolean) => {
      const { stdout } = await runCli(["explain", "last", "--url", url, "--json"], { terminal, columns: 60 });
      return stdout;
    };
    const inPipe = await json(false);
    expect(Math.max(...inPipe.split("\n").map((line) => line.length))).toBeGreaterThan(60);
    expect(await json(true)).toBe(inPipe);
  });
});

test("an id in any form of varied is that of its request", async () => {
  const lengths = new Set<number>();
  for (let seed = 1; seed <= 8; seed++) {
    const { url, sandbox } = await served({ ...frozen, profile: "varied", seed });
    const response = await fetch(url + mePath, { headers: { "x-api-key": sandbox.secret("active") } });
    const id = response.headers.get("x-request-id") ?? "";
    lengths.add(id.length);
    const { code, stdout } = await runCli(["explain", id, "--url", url]);
    expect([code, stdout.split("\n")[0]]).toEqual([0, expect.stringContaining(id)]);
  }
  // The forms differ in their lengths; that of a number is not always the same.
  expect(lengths.size).toBeGreaterThanOrEqual(7);
});
