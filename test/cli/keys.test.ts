import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storySender } from "../../src/api/story-sender.js";
import { outcomeOf, type PathId } from "../../src/domain/outcomes.js";
import { createSandbox } from "../../src/index.js";
import { runtimeOf } from "../../src/library/current-sandbox.js";
import { runNextStep } from "../../src/sandbox/story/run-step.js";
import { parseScenario } from "../../src/scenario/parse-scenario.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function json(argv: readonly string[]) {
  const { code, stdout, stderr } = await runCli([...argv, "--json"], { cwd: temporaryFolder() });
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

describe("svc-sandbox keys", () => {
  it("lists the keys with their state, secret and what they get", async () => {
    const { code, stdout } = await runCli(["keys", "key-states"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^KEY +ORGANIZATION +STATE +SECRET +A REQUEST GETS +PATH\n/);
    expect(stdout).toMatch(
      /^retiring +amberfield-mutual +retiring +SVC_test_sbx\w{29} +200 +200\.retiring$/m,
    );
  });

  it("gives every member with --format json, and the same with --json", async () => {
    const rows = await json(["keys", "key-states"]);
    expect(rows.find(({ ref }: { ref: string }) => ref === "live-suspended")).toEqual({
      ref: "live-suspended",
      organization: "stonebarrow-bank",
      environment: "live",
      state: "active",
      secret: expect.stringMatching(/^SVC_live_sbx\w{29}$/),
      status: 403,
      code: "live_access_not_approved",
      path_id: "403.live_suspended",
      fault_paths: [],
    });
    expect(JSON.parse((await runCli(["keys", "key-states", "--format", "json"])).stdout)).toEqual(rows);
  });

  it("says which faults may come in the way of an answer", async () => {
    const { stdout } = await runCli(["keys", "bad-day"]);
    expect(stdout).toMatch(/^untouched .* 200 +200\.test$/m);
    expect(stdout).toMatch(/^unavailable .* 200 +200\.test or fault\.status$/m);
    const rows = await json(["keys", "bad-day"]);
    expect(
      Object.fromEntries(rows.map((row: Record<string, unknown>) => [row.ref, row.fault_paths])),
    ).toEqual({
      flaky: ["fault.status", "fault.reset", "fault.truncate", "fault.latency"],
      untouched: [],
      delayed: ["fault.latency"],
      unavailable: ["fault.status"],
      "bad-gateway": ["fault.status"],
      "connection-reset": ["fault.reset"],
      "cut-short": ["fault.truncate"],
      "broken-json": ["fault.malformed"],
      slow: ["fault.slow"],
      hanging: ["fault.hang"],
    });
    const told = await runCli(["explain", "cut-short", "bad-day"]);
    expect(told.stdout).toMatch(/^Faults {6}fault\.truncate may come in its way; svc-sandbox show bad-day$/m);
    const spared = await runCli(["explain", "untouched", "bad-day"]);
    expect(spared.stdout).not.toContain("Faults");
  });

  it("tells below the table which keys the timeline and the story will make", async () => {
    const cwd = temporaryFolder({
      "a.yaml": `version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  a-bank: { type: bank, keys: { main: { environment: test }, live: { environment: live } } }
timeline:
  - { at: 10m, rotate: { key: main, as: main-new, overlap: 30m } }
  - { at: 20m, create_key: { organization: a-bank, environment: live, name: Nope }, expect: { error: live_access_not_approved } }
story:
  - advance: 1h
  - rotate: { key: main-new }
  - create_key: { organization: a-bank, environment: test, name: Nightly run }
  - request: { key: nightly-run }
`,
    });
    const { stdout } = await runCli(["keys", "a.yaml"], { cwd });
    const rows = stdout.split("\nNot there yet:\n")[1]?.trimEnd().split("\n") ?? [];
    const secret = "SVC_test_sbx\\w{29}";
    expect(rows).toEqual([
      expect.stringMatching(/^KEY +MADE BY +SECRET$/),
      expect.stringMatching(`^main-new +timeline, at 2026-03-02T09:10:00Z +${secret}$`),
      expect.stringMatching(`^main-new-2 +story, step 2 +${secret}$`),
      expect.stringMatching(`^nightly-run +story, step 3 +${secret}$`),
    ]);

    // They are the keys that are made.
    const sandbox = createSandbox({ scenario: parseScenario(readFileSync(join(cwd, "a.yaml"), "utf8")) });
    for (let step = 0; step < 4; step++) {
      await runNextStep(runtimeOf(sandbox).world(), storySender(runtimeOf(sandbox).world()));
    }
    for (const row of rows.slice(1)) {
      const [, ref = "", told] = /^(\S+) .* (\S+)$/.exec(row) ?? [];
      expect(sandbox.secret(ref)).toBe(told);
    }
    expect((await runCli(["keys", "key-states"])).stdout).not.toContain("Not there yet");
  });

  it("gives lines for a shell with --format env, without addresses", async () => {
    const { stdout } = await runCli(["keys", "key-states", "--format", "env"]);
    for (const line of stdout.trimEnd().split("\n")) {
      expect(line).toMatch(/^SVC_(?:API_KEY|KEY_[A-Z0-9_]+)=(?:SVC|legacysvc)_(?:test|live)_[\w-]+$/);
    }
    const values = Object.fromEntries(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split("=")),
    );
    expect(values.SVC_API_KEY).toBe(values.SVC_KEY_ACTIVE);
    expect(values).toHaveProperty("SVC_KEY_RATE_LIMITED_MINUTE");
  });
});

describe("svc-sandbox explain", () => {
  it("shows the checks in their order, the answer and what to do, in words when nobody looks", async () => {
    const { code, stdout } = await runCli(["explain", "wrong-scope"], { cwd: temporaryFolder() });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^GET \/v1\/relying-party\/me with the key wrong-scope, scenario key-states, at 2026-03-02T09:00:0/,
    );
    expect(
      [...stdout.matchAll(/^ {2}(passed|refused|not reached) +(key|[a-z]+(?: [a-z]+)?) {2}/gm)].map(
        ([, ...row]) => row,
      ),
    ).toEqual([
      ["passed", "key"],
      ["passed", "organization"],
      ["passed", "live access"],
      ["refused", "scope"],
      ["not reached", "minute limit"],
      ["not reached", "day limit"],
    ]);
    expect(stdout).toContain("\nAnswer      403 insufficient_scope  403.insufficient_scope  (");
    expect(stdout).toMatch(/\nWhat to do {2}Create a key with the scope that the endpoint needs/);
  });

  it("shows signs on a terminal", async () => {
    const options = { cwd: temporaryFolder(), terminal: true, env: { NO_COLOR: "1" } };
    const { stdout } = await runCli(["explain", "live-suspended"], options);
    expect(stdout).toMatch(/ {2}✓ {2}organization [\s\S]* {2}✗ {2}live access [\s\S]* {2}· {2}scope /);
  });

  it("explains every key of a scenario as a request with it ends", async () => {
    for (const row of await json(["keys", "key-states"])) {
      const explained = await json(["explain", row.ref, "key-states"]);
      expect(explained).toMatchObject({
        key: row.ref,
        path_id: row.path_id,
        status: row.status,
        code: row.code,
      });
    }
  });

  it.each<[string, PathId]>([
    ["none", "401.missing"],
    ["malformed", "401.malformed"],
    ["unknown", "401.unknown"],
    ["", "401.malformed"],
    ["Bearer SVC_test_abc", "401.malformed"],
    ["SVC_test_sbxabc", "401.unknown"],
  ])("explains %j as %s", async (word, pathId) => {
    const explained = await json(["explain", word]);
    expect(explained).toMatchObject({
      key: null,
      path_id: pathId,
      status: outcomeOf(pathId).status,
      real_key_suspected: false,
    });
  });

  it("knows a key of the scenario by its full text, and never prints it (R46)", async () => {
    const [{ secret }] = await json(["keys", "revoked"]);
    const { stdout } = await runCli(["explain", ` ${secret}`, "revoked"]);
    expect(stdout).toMatch(/^GET \S+ with the key [a-z-]+, scenario revoked/);
    expect(stdout).not.toContain(secret);
  });

  it("says of a key without the sandbox's mark that it looks real, and shows its fingerprint alone (R46)", async () => {
    const real = "SVC_live_4f9a8b7c6d5e4f3a2b1c";
    const { code, stdout, stderr } = await runCli(["explain", real], { cwd: temporaryFolder() });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/with a key of fingerprint [0-9a-f]{12},/);
    expect(stdout).toMatch(/This looks like a real key: .*\nIf it is real, rotate it/);
    expect(stdout).not.toContain("4f9a");
    expect(await json(["explain", real])).toMatchObject({ path_id: "401.unknown", real_key_suspected: true });
  });

  it("names the nearest ref of one that the scenario does not have", async () => {
    const { code, stderr } = await runCli(["explain", "revokd"], { cwd: temporaryFolder() });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Failed to find the key "revokd": .*Did you mean "revoked"\?/);
  });
});

describe("svc-sandbox openapi and schema", () => {
  it("print JSON documents", async () => {
    expect(JSON.parse((await runCli(["openapi"])).stdout)).toMatchObject({
      openapi: "3.1.0",
      info: { version: "0.1.0" },
    });
    expect(JSON.parse((await runCli(["schema"])).stdout)).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
    });
  });
});
