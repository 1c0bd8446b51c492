import { describe, expect, it } from "vitest";
import { type RunOptions, runCli, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { longStory, storyScenario } from "./stories.js";

const slipping = storyScenario([
  "- request: { key: revoked }",
  "  expect: { status: 401, body: { error: { message: Nothing. } } }",
  "- advance: 9999999d",
  "- say: Still here.",
]);

function play(story: string, argv: readonly string[] = [], options: RunOptions = {}) {
  return runCli(["play", "a.yaml", ...argv], { cwd: temporaryFolder({ "a.yaml": story }), ...options });
}

function startPlay(story: string, argv: readonly string[], options: RunOptions = {}) {
  const cwd = temporaryFolder({ "a.yaml": story });
  return startCli(["play", "a.yaml", ...argv], { cwd, ...options });
}

describe("svc-sandbox play", () => {
  it("shows narration, requests and responses as clients see them, and the rest as text", async () => {
    const { code, stdout, stderr } = await play(longStory);
    expect([code, stderr]).toEqual([0, ""]);
    const paragraphs = [
      "a.yaml\nIt is 09:00 on 2 March 2026 (UTC), and the clock is frozen.",
      "  GET /v1/relying-party/me\n  x-api-key: SVC_test_…  (active)",
      "  200 OK\n  content-type: application/json\n",
      '  {\n    "data": {\n      "organization": {',
      // The cause of a response is above it.
      "  200.test: a valid test key\n  200 OK\n",
      "rotate active, overlap 60m → active-2",
      "create_key",
      "61m later: 10:01 on 2 March 2026",
      '  POST /v1/nothing\n  x-api-key: SVC_test_…  (active)\n  content-type: application/json\n\n  { "a": 1 }',
      "  404 Not Found\n",
      "\n  401 Unauthorized\n",
      "  x-api-key: …  (malformed: not a key at all)",
      "  x-api-key: SVC_test_…  (an unknown key)",
      "organization a-bank, status inactive",
      "faults: reset",
      "  2 times, one after the other:\n  GET /v1/relying-party/me\n  x-api-key: SVC_test_…  (active-2)\n\n  fault.reset: ",
      "  There is no response. A client without a timeout would wait forever.",
      "faults: none",
      "revoke active-2",
    ];
    for (const paragraph of paragraphs) expect(stdout).toContain(paragraph);
    expect(stdout).toMatch(/→ rejected: not_an_administrator\nOnly administrators/);
  });

  it("breaks JSON between members where a line is longer than a terminal", async () => {
    const long = "x".repeat(30);
    const story = storyScenario([
      `- request: { key: active, path: /a, method: POST, body: { a: ${long}, b: ${long}, c: { d: 1, e: 2 } } }`,
      `- request: { key: active, path: /a, method: POST, body: { a: ${long}, b: ${long}, c: ${long} } }`,
    ]);
    const { stdout } = await play(story);
    expect(stdout).toContain(
      `  {\n    "a": "${long}",\n    "b": "${long}",\n    "c": { "d": 1, "e": 2 }\n  }\n`,
    );
    expect(stdout).toContain(`  {\n    "a": "${long}",\n    "b": "${long}",\n    "c": "${long}"\n  }\n`);
  });

  it("shows the time that passes before a step", async () => {
    const story = storyScenario([
      "- after: 2h",
      "  request: { key: active }",
      "- after: 30m",
      "  say: Later.",
    ]);
    const { stdout } = await play(story);
    expect(stdout).toContain("Step 1 of 2\n2h later: 11:00 on 2 March 2026\n  GET /v1/relying-party/me\n");
    expect(stdout).toContain("Step 2 of 2\n30m later: 11:30 on 2 March 2026\nLater.\n");
  });

  it("R46 shows no full key, also not as a name in a body or in a response", async () => {
    const key = "SVC_live_abcdefghijklmnopqrstuvwxyz";
    const story = storyScenario(
      [`- request: { key: active, path: /a, method: POST, body: { ${key}: ${key} } }`],
      `endpoints: { a: { method: POST, path: /a, body: { a: ${key} } } }`,
    );
    for (const argv of [[], ["--json"]]) {
      const { code, stdout, stderr } = await play(story, argv);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout.toLowerCase()).not.toContain("abcdefgh");
      expect(stdout).toContain("SVC_live_…");
    }
  });

  it("shows the number of steps, and the current step", async () => {
    const piped = await play(longStory);
    expect(piped.stdout).toContain("\n16 steps.\n\nStep 1 of 16\n");
    expect(piped.stdout).toContain("\nStep 16 of 16\n");
  });

  it.each(["minimal", "typical"])("keeps a 200 and its status in sight on 24 rows: %s", async (profile) => {
    const { stdout } = await play(longStory, ["--profile", profile], { columns: 80 });
    const steps = stdout.split(/^Step /m).filter((step) => step.includes("\n  200 OK\n"));
    expect(steps.length).toBeGreaterThan(0);
    // The last row is the one of the cursor.
    for (const step of steps) expect(step.slice(step.indexOf("200 OK")).split("\n").length).toBeLessThan(24);
  });

  it("never shows a key in full", async () => {
    const secret = "SVC_test_sbx0123456789abcdefghijklmnopqrs";
    const story = `${longStory}  - say: The key is ${secret}.\n  - request: { path: "/${secret}", headers: { x-o: ${secret} } }\n`;
    for (const flags of [[], ["--json"]]) {
      const { stdout, stderr } = await play(story, flags);
      expect(stdout + stderr).not.toMatch(/SVC_test_\w/);
    }
  });

  it("shows each body, and a closing line", async () => {
    const request = "- request: { key: active }";
    const { stdout } = await play(
      storyScenario([request, request, "- request: { key: none }", "- advance: 1m", request]),
    );
    expect(stdout.match(/"organization": \{/g)).toHaveLength(3);
    expect(stdout.endsWith("\nThe end: 5 steps, all as expected.\n")).toBe(true);
    expect((await play(slipping)).stdout).toContain("The end: 3 steps, 2 not as expected.");
  });

  it("shows the timeline's steps in between", async () => {
    const more = "timeline:\n  - { at: 10m, revoke: { key: active } }";
    const { stdout } = await play(storyScenario(["- advance: 1h"], more));
    expect(stdout).toContain(
      "1h later: 10:00 on 2 March 2026\nIn between, at 09:10 on 2 March 2026: revoke active\n",
    );
  });

  it("marks differences from the story, continues, and exits with 1", async () => {
    const { code, stdout, stderr } = await play(slipping);
    expect(code).toBe(1);
    expect(stdout).toContain('Unexpected result: body.error.message: expected "Nothing.", found');
    expect(stdout).toMatch(/\nThis step cannot run: Failed to set the clock /);
    expect(stdout).toMatch(/\nStill here\.\n/);
    expect(stdout).toMatch(/required\."\na\.yaml:\d+:\d+\n/);
    expect(stdout).toMatch(/latest possible time is .*\na\.yaml:13:5\n/);
    expect(stderr).toBe("Unexpected results: 2 steps.\n");
  });

  it("gives a line of JSON for each step with --json", async () => {
    const { code, stdout } = await play(longStory, ["--json"], { terminal: true });
    expect(code).toBe(0);
    const steps = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => index + 1));
    expect(steps[1]).toMatchObject({
      ...{ kind: "request", of: steps.length, request: { key: "active", times: 1 } },
      ...{ response: { status: 200, code: null, outcome: "200.test", fault: null }, differences: [] },
    });
    expect(steps[2].performed.key).toMatchObject({
      ref: "active",
      overlap_ends_at: "2026-03-02T10:00:00.000Z",
    });
    expect(steps[2].performed.secret).toBe("SVC_test_…");
  });
});

describe("the pauses of svc-sandbox play", () => {
  async function pauses(argv: readonly string[], options: RunOptions = {}): Promise<number[]> {
    const waited: number[] = [];
    const wait = async (milliseconds: number) => void waited.push(milliseconds);
    await play(longStory, argv, { wait, ...options });
    return waited;
  }

  it("give time to read on a terminal: more for more, none after the last step", async () => {
    const waited = await pauses([], { terminal: true });
    expect(waited).toHaveLength(15);
    expect(waited[0]).toBeGreaterThan(3000);
    expect(Math.min(...waited)).toBeGreaterThanOrEqual(1200);
    expect(Math.max(...waited)).toBeLessThanOrEqual(12_000);
  });

  it("are shorter with --speed, and none with --speed max", async () => {
    const normal = await pauses([], { terminal: true });
    const twice = normal.map((time) => time / 2);
    expect(await pauses(["--speed", "2"], { terminal: true })).toEqual(twice);
    expect(await pauses(["--speed", "max"], { terminal: true })).toEqual(Array(15).fill(0));
  });

  it("are omitted in a pipe without --speed, and with --json", async () => {
    expect(await pauses([])).toEqual(Array(15).fill(0));
    expect(await pauses(["--speed", "1"])).toHaveLength(15);
    expect(await pauses(["--json"], { terminal: true })).toEqual(Array(15).fill(0));
  });

  it.each(["1e9", ".5", "1e-12"])("can have the speed %j", async (speed) => {
    expect(await pauses(["--speed", speed])).toHaveLength(15);
  });

  it("end with Ctrl-C, at once, and with 1 after an unexpected step", async () => {
    const wait = (_: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    const running = startPlay(slipping, [], { terminal: true, wait });
    await running.stdout.shows(/Nothing/);
    const { code, stdout } = await running.stop();
    expect(code).toBe(1);
    expect(stdout).not.toContain("Still here.");
    expect(stdout.endsWith("\n\n")).toBe(true);
  });
});

describe("svc-sandbox play --step", () => {
  it("continues with Enter, Space and presenters' clickers", async () => {
    const keys = ["return", "space", "pagedown", "right", "down", ...Array(12).fill("return")];
    const { code, stdout } = await play(longStory, ["--step"], { keys, terminal: true });
    expect(code).toBe(0);
    expect(stdout).toContain("revoke active-2");
  });

  it("exits with 1 if q ends it after an unexpected step", async () => {
    const { code, stderr } = await play(slipping, ["--step"], { keys: ["enter", "q"] });
    expect([code, stderr]).toEqual([1, expect.stringContaining("Unexpected results: 2 steps.")]);
  });

  it.each(["q", "ctrl-c", "escape"])("ends with %s, and 0", async (key) => {
    const { code, stdout } = await play(longStory, ["--step"], { keys: ["return", key] });
    expect(code).toBe(0);
    expect(stdout).toContain("GET");
    expect(stdout).not.toContain("rotates");
  });

  it("ends when it is asked to stop while it waits for a key", async () => {
    const running = startPlay(longStory, ["--step"], { keys: [] });
    await running.stdout.shows(/A bank/);
    expect((await running.stop()).code).toBe(0);
  });
});
