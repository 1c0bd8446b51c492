import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { authorizationChecks } from "../../src/api/authorize.js";
import { createSandbox, parseScenario } from "../../src/index.js";
import { control } from "../support/call-control.js";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { listening, served } from "../support/servers.js";

// `explain` of a request, from a rejection to its cause, and of a key.

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

test("a word is a key if the sandbox has one of this ref, or else a request", async () => {
  const scenario = parseScenario(
    `version: 1\norganizations: { bank: { type: bank, keys: { ${uuid}: { environment: test }, last: { environment: test } } } }\n`,
  );
  const { url, sandbox } = await served({ scenario });
  const explained = await runCli(["explain", uuid, "--url", url, "--json"]);
  expect(JSON.parse(explained.stdout)).toMatchObject({ key: uuid, outcome: "200.test" });

  // `last` is always a request: such a key is explained by its secret.
  expect(await runCli(["explain", "last", "--url", url])).toMatchObject({ code: 2, stdout: "" });
  const bySecret = await runCli(["explain", sandbox.secret("last"), "--url", url, "--json"]);
  expect(JSON.parse(bySecret.stdout)).toMatchObject({ key: "last", outcome: "200.test" });
});

test.each([
  ["req_bc8550a0796dcd92217f3541", /There is no request/],
  ["nope", /Unknown key "nope": this scenario has active,/],
  ["organization-inactve", /Did you mean "organization-inactive"\?/],
  // Long enough for a key, and still a ref.
  ["rate-limited-minute-of-the-bank", /Unknown key "rate-limited-minute-of-the-bank"/],
])(
  "%s is neither a key nor a request of the sandbox: an error, and never explained as a key",
  async (word, says) => {
    const { url } = await served();
    const { code, stdout, stderr } = await runCli(["explain", word, "--url", url]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(says);
  },
);

test("without a sandbox, explain names the command that starts one; without a control plane, the flag", async () => {
  const closed = await runCli(["explain", "active", "--url", "http://127.0.0.1:1"]);
  expect([closed.code, closed.stderr]).toEqual([2, expect.stringContaining("`svc-sandbox start`")]);
  const { url } = await served({ control: false });
  const withoutControl = await runCli(["explain", "active", "--url", url]);
  expect([withoutControl.code, withoutControl.stderr]).toEqual([2, expect.stringContaining("--no-control")]);
});

describe("a key", () => {
  const explained = async (url: string, word: string, ...flags: string[]) => {
    const env = { SVC_CONTROL_URL: `${url}/__sandbox` };
    const { code, stdout, stderr } = await runCli(["explain", word, ...flags, "--json"], { env });
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  };

  test("is explained as the sandbox has it, by its ref or its secret, and with the keys that it has created", async () => {
    const { url, sandbox } = await served(frozen);
    sandbox.keys.revoke("active");
    expect(await explained(url, "active")).toMatchObject({ key: "active", outcome: "401.revoked" });
    expect(await explained(url, ` ${secret}`)).toMatchObject({ key: "active", outcome: "401.revoked" });
    const { key } = sandbox.keys.create({ organization: "harvest-bank", environment: "test", name: "Later" });
    expect(await explained(url, key.ref)).toMatchObject({ key: key.ref, outcome: "200.test" });
    const rows = JSON.parse((await runCli(["keys", "key-states", "--json"])).stdout);
    for (const { ref, outcome, status, code } of rows) {
      if (ref === "active") continue;
      expect(await explained(url, ref)).toMatchObject({ key: ref, outcome, status, code });
    }
  });

  test("is explained as text with its checks in order, the response, why, and what to do", async () => {
    const { url } = await served(frozen);
    const { stdout } = await runCli(["explain", "wrong-scope", "--url", url]);
    expect(stdout).toMatch(
      /^GET \S+ with the key wrong-scope, scenario key-states, at 2026-03-02T09:00:00\.000Z\n/,
    );
    const checks = [...stdout.matchAll(/^ {2}(passed|rejected|not reached) +(key|[a-z]+(?: [a-z]+)?) {2}/gm)];
    const names = authorizationChecks.map(({ name }) => name);
    const at = names.indexOf("scope");
    const resultAt = (index: number) => (index > at ? "not reached" : index === at ? "rejected" : "passed");
    expect(checks.map(([, result, name]) => [name, result])).toEqual(
      names.map((name, index) => [name, resultAt(index)]),
    );
    expect(stdout).toContain("\nResponse    403 insufficient_scope  403.insufficient_scope  (");
    expect(stdout).toContain("\nWhy         needs attestations:read, has consents:read\n");
    expect(stdout).toMatch(/\nWhat to do {2}Create a key with the scope that the endpoint needs/);
  });

  test("is explained at an endpoint", async () => {
    const { url, sandbox } = await served({ scenario: "announced-endpoints" });
    const at = (word: string) => explained(url, word, "--endpoint", "createConsentRequest");
    const call = { method: "POST", path: "/v1/relying-party/consent-requests" };
    const right = { ...call, key: "lending", outcome: "201.createConsentRequest", why: null };
    expect(await at("lending")).toMatchObject(right);
    expect(await at(sandbox.secret("lending"))).toMatchObject(right);
    const why = expect.stringMatching(/consents/);
    expect(await at("statistics")).toMatchObject({ ...call, outcome: "403.insufficient_scope", why });
    expect(await at("none")).toMatchObject({ ...call, key: null, outcome: "401.missing" });
    const misspelt = await runCli(["explain", "none", "--endpoint", "createConsent", "--url", url]);
    expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining("Unknown endpoint")]);
  });

  test("has the faults that may hit its request", async () => {
    const { url } = await served({ scenario: "bad-day" });
    const { stdout } = await runCli(["explain", "cut-short", "--url", url]);
    expect(stdout).toMatch(/^Faults {6}fault\.truncate may replace this response$/m);
    expect((await runCli(["explain", "untouched", "--url", url])).stdout).not.toContain("Faults");
  });

  const another = createSandbox({ seed: 99 }).secret("active");
  test.each([
    ["none", "401.missing", {}],
    ["unknown", "401.unknown", {}],
    [createSandbox().secret("unknown"), "401.unknown", {}],
    ["", "401.malformed", { key_form: "empty", advice: [] }],
    ["SVC_test_sbxabc", "401.unknown", { advice: ["key-cut"] }],
    [secret.slice(0, -1), "401.unknown", { advice: ["key-cut"] }],
    [another, "401.unknown", { advice: ["key-of-another-sandbox"] }],
    [real, "401.unknown", { advice: ["real-key-suspected"] }],
    // It is a key without its prefix: never shown.
    [secret.replace("SVC_test_", ""), "401.malformed", { advice: [] }],
  ])(
    "R46 that the sandbox does not have, %j, gets %s, with the advice that its request gets",
    async (word, outcome, more) => {
      const { url } = await served(frozen);
      expect(await explained(url, word)).toMatchObject({ key: null, outcome, ...more });
      const { stdout } = await runCli(["explain", word, "--url", url]);
      if (word.length > 20) expect(stdout).not.toContain(word.slice(-12));
      if (word === real) expect(stdout).toMatch(/This looks like a real key: [\s\S]* rotate it/);
      if (word === another) expect(stdout).toContain("Another sandbox created this key");
    },
  );

  test("R35 R46 never leaves the command: its hash does", async () => {
    const sent: string[] = [];
    const { url, sandbox } = await served(frozen);
    const proxy = createServer((request, response) => {
      sent.push(`${request.url} ${JSON.stringify(request.headers)}`);
      fetch(url + request.url).then(async (reply) => {
        response.writeHead(reply.status).end(await reply.text());
      });
    });
    const front = `http://127.0.0.1:${await listening(proxy)}`;
    for (const key of [secret, secret.replace("SVC_test_", "SVC_live_"), real]) await explained(front, key);
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
