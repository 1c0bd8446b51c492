import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runNextStep } from "../../src/api/story/run-story.js";
import { createSandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { parseScenario } from "../../src/scenario/scenario-source.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function json(argv: readonly string[], ...flags: string[]) {
  const cwd = temporaryFolder();
  const { code, stdout, stderr } = await runCli([...argv, ...(flags.length > 0 ? flags : ["--json"])], {
    cwd,
  });
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

describe("svc-sandbox keys", () => {
  it("lists the keys with their secrets and what they get, in at most 80 columns on a narrow terminal", async () => {
    const { code, stdout } = await runCli(["keys", "key-states"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^KEY +SECRET +A REQUEST GETS +OUTCOME\n/);
    expect(stdout).toMatch(/^retiring +SVC_test_sbx\w{29} +200 +200\.retiring$/m);
    const narrow = { terminal: true, columns: 80, env: { NO_COLOR: "1" } };
    const lines = (await runCli(["keys", "key-states"], narrow)).stdout.split("\n");
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it("gives every member with --format json, and the same with --json", async () => {
    const rows = await json(["keys", "key-states"]);
    expect(rows.find(({ ref }: { ref: string }) => ref === "live-suspended")).toEqual({
      ...{ ref: "live-suspended", organization: "stonebarrow-bank", environment: "live", state: "active" },
      ...{ secret: expect.stringMatching(/^SVC_live_sbx\w{29}$/), status: 403 },
      ...{ code: "live_access_not_approved", outcome: "403.live_suspended", fault_outcomes: [] },
    });
    expect(await json(["keys", "key-states"], "--format", "json")).toEqual(rows);
  });

  it("shows which faults may replace a response", async () => {
    const { stdout } = await runCli(["keys", "bad-day"]);
    expect(stdout).toMatch(/^untouched .* 200 +200\.test$/m);
    expect(stdout).toMatch(/^unavailable .* 200 or a fault +200\.test or fault\.status$/m);
    const rows = await json(["keys", "bad-day"]);
    const faultsOf = new Map(rows.map((row: Record<string, unknown>) => [row.ref, row.fault_outcomes]));
    expect(faultsOf.get("flaky")).toEqual(["fault.status", "fault.reset", "fault.truncate", "fault.latency"]);
    expect(faultsOf.get("untouched")).toEqual([]);
    expect(faultsOf.get("slow")).toEqual(["fault.slow"]);
  });

  it("shows a fault that does not hit the next request, but later ones", async () => {
    const cwd = temporaryFolder({
      "a.yaml": `version: 1
organizations:
  a-bank: { type: bank, keys: { main: { environment: test }, other: { environment: test } } }
faults:
  - { when: { key: main, every: 2 }, then: { status: 503 } }
`,
    });
    const { stdout } = await runCli(["keys", "a.yaml"], { cwd });
    expect(stdout).toMatch(/^main +\S+ +200 or a fault +200\.test or fault\.status$/m);
    expect(stdout).toMatch(/^other +\S+ +200 +200\.test$/m);
    const { stdout: json } = await runCli(["keys", "a.yaml", "--json"], { cwd });
    expect(JSON.parse(json)[0]).toMatchObject({ ref: "main", status: 200, fault_outcomes: ["fault.status"] });
  });

  it("lists below the table the keys that the timeline and the story will create", async () => {
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
    const rows = stdout.split("\nCreated later:\n")[1]?.trimEnd().split("\n") ?? [];
    const secret = "SVC_test_sbx\\w{29}";
    expect(rows).toEqual([
      expect.stringMatching(/^KEY +SECRET +MADE BY$/),
      expect.stringMatching(`^main-new +${secret} +timeline, at 2026-03-02T09:10:00Z$`),
      expect.stringMatching(`^main-new-2 +${secret} +story, step 2$`),
      expect.stringMatching(`^nightly-run +${secret} +story, step 3$`),
    ]);

    expect((await runCli(["keys", "a.yaml", "--seed", "5"], { cwd })).stdout).not.toContain(
      rows[1]?.split(/ +/)[1],
    );

    // They are the keys that are made.
    const sandbox = createSandbox({ scenario: parseScenario(readFileSync(join(cwd, "a.yaml"), "utf8")) });
    const state = stateOf(sandbox);
    for (let step = 0; step < 4; step++) runNextStep(state);
    for (const row of rows.slice(1)) {
      const [, ref = "", told] = /^(\S+) +(\S+) /.exec(row) ?? [];
      expect(sandbox.secret(ref)).toBe(told);
    }
    expect((await runCli(["keys", "key-states"])).stdout).not.toContain("Created later");
  });

  it("exports variables with --format env, so that child processes see them, without addresses", async () => {
    const { stdout } = await runCli(["keys", "key-states", "--format", "env"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.pop()).toBe("export SVC_KEY_MALFORMED=not-an-api-key");
    for (const line of lines) {
      expect(line).toMatch(/^export SVC_(?:API_KEY|KEY_[A-Z0-9_]+)=(?:SVC|legacysvc)_(?:test|live)_[\w-]+$/);
    }
    const { stdout: forPowershell } = await runCli(["keys", "key-states", "--format", "powershell"]);
    const asVariable = (_line: string, name: string, value: string) => `$env:${name} = '${value}'`;
    expect(forPowershell).toBe(stdout.replaceAll(/^export (\w+)=(.*)$/gm, asVariable));
    const [, active] = /^export SVC_KEY_ACTIVE=(.*)$/m.exec(stdout) ?? [];
    expect(stdout).toContain(`SVC_API_KEY=${active}\n`);
    expect(stdout).toContain("\nexport SVC_KEY_RATE_LIMITED_MINUTE=");
    const script = `${stdout}node -p process.env.SVC_KEY_ACTIVE`;
    if (process.platform !== "win32") {
      expect(execFileSync("sh", ["-c", script], { encoding: "utf8" }).trim()).toBe(active);
    }
  });
});

it("svc-sandbox openapi and schema print JSON documents", async () => {
  const printed = [await runCli(["openapi"]), await runCli(["schema"])];
  const documents = printed.map(({ stdout }) => JSON.parse(stdout));
  expect(documents).toMatchObject([
    { openapi: "3.1.0", info: { version: "0.1.0" } },
    { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" },
  ]);
});
