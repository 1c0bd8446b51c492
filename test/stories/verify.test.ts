import { describe, expect, it } from "vitest";
import { memberWordsIn, sectionOf, wordsOfValue } from "../support/pages.js";
import { type RunOptions, runCli } from "../support/run-cli.js";
import { commandLine, runCommand } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { failing, good, storyScenario } from "./stories.js";

function verify(files: Readonly<Record<string, string>>, argv: readonly string[], options: RunOptions = {}) {
  return runCli(["verify", ...argv], { cwd: temporaryFolder(files), ...options });
}

const withoutTimes = (text: string) => text.replace(/\(\d+ ms\)/g, "(… ms)");

describe("svc-sandbox verify", () => {
  it("shows the time that passes before a step", async () => {
    const story = storyScenario([
      "- after: 2h",
      "  request: { key: active }",
      "- after: 30m",
      "  say: Later.",
    ]);
    const cwd = temporaryFolder({ "a.yaml": story });
    const { stdout } = await runCli(["verify", "a.yaml"], { cwd });
    expect(stdout).toMatch(/^ {2}1 +after 2h: GET \/v1\/relying-party\/me with active → 200 /m);
    expect(stdout).toMatch(/^ {2}2 +after 30m: Later\.$/m);
  });

  it("shows each step with its result, and a summary", async () => {
    const { code, stdout, stderr } = await verify({ "good.yaml": good }, ["good.yaml"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(withoutTimes(stdout)).toBe(`good.yaml  seed 1, from 2026-03-02T09:00:00Z
  1          A bank calls the API for the first time.
  2  passed  GET /v1/relying-party/me with active → 200  200.test
  3  passed  rotate active, overlap 60m → active-2
  4  passed  revoke active-2, actor member → rejected: not_an_administrator (Only administrators of the organization create and manage keys; this request came from a member.)
  5          GET /v1/relying-party/me with active-2, 3 times → 429 rate_limited  429.per_minute
  6          advance 61m → 2026-03-02T10:01:00Z
  7  passed  GET /v1/relying-party/me with active → 401 unauthorized  401.rotated

good.yaml: 7 steps, 4 expectations, all passed (… ms)
`);
  });

  it("ends a story with the failing step, and shows the place of each difference", async () => {
    const { code, stdout } = await verify({ "bad.yaml": failing }, ["bad.yaml"]);
    expect(code).toBe(1);
    expect(withoutTimes(stdout)).toBe(`bad.yaml  seed 1, from 2026-03-02T09:00:00Z
  1          GET /v1/relying-party/me with active → 200  200.test
  2  FAILED  GET /v1/relying-party/me with revoked → 401 unauthorized  401.revoked

bad.yaml:15:32: step 2: headers.content-type: expected "text/plain", found "application/json"
        headers: { content-type: text/plain }
                                 ^

bad.yaml:16:33: step 2: body.error.message: expected "Nothing.", found "A valid API key is required."
        body: { error: { message: Nothing. } }
                                  ^

bad.yaml: step 2 of 3 failed, 1 step not reached (… ms)
`);
  });

  it("shows signs and colors on a terminal, and no colors with NO_COLOR", async () => {
    const files = { "good.yaml": good, "bad.yaml": failing };
    const colored = await verify(files, ["good.yaml", "bad.yaml"], { terminal: true });
    expect(colored.stdout).toContain("\u001b[32m✓\u001b[39m");
    expect(colored.stdout).toContain("\u001b[31m✗\u001b[39m");
    const byVariable = await verify(files, ["good.yaml"], { terminal: true, env: { NO_COLOR: "1" } });
    expect(byVariable.stdout).not.toContain("\u001b");
  });

  it("puts narration into one line", async () => {
    const story = storyScenario([`- say: |`, "    One line,", "    and another"]);
    const { stdout } = await verify({ "a.yaml": story }, ["a.yaml"]);
    expect(stdout.split("\n")[1]).toMatch(/ One line, and another$/);
  });

  it.skipIf(process.platform === "win32")("of every scenario is one error in a deleted folder", async () => {
    const cwd = temporaryFolder();
    const line = `rmdir "$PWD" && ${commandLine} verify --all`;
    expect(await runCommand(line, { cwd }).ended).toMatchObject({
      code: 2,
      stdout: "",
      stderr: "The working folder was deleted. Change to another one with cd, and run it again.\n",
    });
  });

  const timeline = (...steps: string[]) =>
    ["timeline:", ...steps.map((step, i) => `  - { at: ${i + 1}0m, ${step} }`)].join("\n");

  it.each<[title: string, code: number, scenario: string, ...shown: RegExp[]]>([
    [
      "says that nothing in a story could fail",
      0,
      storyScenario(["- say: Words."]),
      /^a\.yaml: 1 step, 0 expectations: nothing that could fail/m,
    ],
    ["fails without a story: nothing is proved", 1, storyScenario([]), /^a\.yaml: the scenario has no story/],
    [
      "fails a step that cannot be told, at its place",
      1,
      storyScenario(["- say: Words.", "- advance: 9999999d"]),
      /2 {2}FAILED {2}advance 9999999d → validation_failed/,
      /^a\.yaml:12:5: step 2: Failed to set the clock .*\n +- advance: 9999999d\n +\^$/m,
    ],
    [
      "fails a request with a key that is not there yet",
      1,
      storyScenario(["- request: { key: active-2 }"], timeline("rotate: { key: active, as: active-2 }")),
      /request with active-2 → unknown_ref\n/,
      /^a\.yaml:13:5: step 1: .*"active-2"/m,
    ],
    [
      "shows what the timeline does meanwhile, also what is rejected, and goes on",
      0,
      storyScenario(["- advance: 1h"], timeline("revoke: { key: active }", "rotate: { key: active }")),
      /in between, at 2026-03-02T09:10:00Z: revoke active\n/,
      /rotate active → rejected: key_not_active \(.+\)\n/,
    ],
    [
      "fails for what the timeline was to be rejected meanwhile, and was not",
      1,
      storyScenario(
        ["- advance: 1h"],
        timeline(
          "revoke: { key: revoked }, expect: { error: not_an_administrator }",
          "create_key: { organization: a-bank, environment: test, name: CI }, expect: { error: name_taken }",
        ),
      ),
      /^a\.yaml:11:\d+: step 1: timeline\[0\]\.error: expected "not_an_administrator", found "key_not_active" \(.+\)$/m,
      /^a\.yaml:12:\d+: step 1: timeline\[1\]\.error: expected "name_taken", found nothing$/m,
    ],
    [
      "points into the file that a timeline is inherited from",
      1,
      "version: 1\nextends: ./base.yaml\nstory:\n  - advance: 1h\n",
      /base\.yaml:11:\d+: step 1: timeline\[0\]\.error: .*\n {4}- \{ at: 10m/,
    ],
  ])("%s", async (_title, expected, scenario, ...shown) => {
    const base = storyScenario([], timeline("revoke: { key: revoked }, expect: { error: name_taken }"));
    const { code, stdout } = await verify({ "a.yaml": scenario, "base.yaml": base }, ["a.yaml"]);
    expect(code).toBe(expected);
    for (const pattern of shown) expect(stdout).toMatch(pattern);
  });

  it("runs the other scenarios when one fails or cannot be read, and exits with the worse code", async () => {
    const files = { "bad.yaml": failing, "good.yaml": good, "broken.yaml": "version: 1\norganizations: [\n" };
    const two = await verify(files, ["bad.yaml", "good.yaml", "bad.yaml"]);
    expect(two.code).toBe(1);
    expect(two.stdout).toMatch(/all passed \(\d+ ms\)\n\n2 scenarios: 1 failed\n$/);
    const withBroken = await verify(files, ["broken.yaml", "good.yaml"]);
    expect(withBroken.code).toBe(2);
    expect(withBroken.stderr).toMatch(/^broken\.yaml:\d+:\d+: /);
    expect(withBroken.stdout).toMatch(/2 scenarios: 1 failed\n$/);
  });

  it("prints only what failed with --quiet", async () => {
    const files = { "bad.yaml": failing, "good.yaml": good };
    expect(await verify(files, ["good.yaml", "--quiet"])).toEqual({ code: 0, stdout: "", stderr: "" });
    const { stdout } = await verify(files, ["good.yaml", "bad.yaml", "--quiet"]);
    expect(stdout).toMatch(/^bad\.yaml:15:32: /);
    expect(stdout).not.toMatch(/good\.yaml/);
  });

  it("has in its JSON the members that the page lists, and for a scenario no others", async () => {
    const { stdout } = await verify({ "a.yaml": good, "b.yaml": failing }, ["a.yaml", "b.yaml", "--json"]);
    const [passed, failed] = JSON.parse(stdout);
    const words = memberWordsIn(sectionOf("docs/stories.md", "The JSON of a step").replaceAll("|", " "));
    expect(words).toEqual(expect.arrayContaining(Object.keys(passed)));
    const known = ["verify", "play", ...wordsOfValue([passed, failed])];
    expect(words.filter((word) => !known.includes(word))).toEqual([]);
  });

  it("gives one JSON document with --json", async () => {
    const files = { "good.yaml": good, "bad.yaml": failing, "broken.yaml": "version: 2\n" };
    const { code, stdout, stderr } = await verify(files, [...Object.keys(files), "--json"]);
    expect([code, stderr]).toEqual([2, ""]);
    const [first, second, third] = JSON.parse(stdout);
    expect(first).toMatchObject({ name: "good.yaml", passed: true, seed: 1, step_count: 7, not_reached: 0 });
    expect(first.steps[6]).toMatchObject({
      ...{ number: 7, kind: "request", passed: true },
      request: { method: "GET", path: "/v1/relying-party/me", key: "active", times: 1 },
      response: { status: 401, code: "unauthorized", outcome: "401.rotated" },
      ...{ now: "2026-03-02T10:01:00.000Z", differences: [] },
    });
    expect(first.steps[3]).toMatchObject({ performed: { error: { code: "not_an_administrator" } } });
    expect(second).toMatchObject({ name: "bad.yaml", passed: false, not_reached: 1 });
    expect(second.duration_ms).toBeGreaterThan(0);
    expect(second.steps[1]).toMatchObject({
      passed: false,
      place: { file: "bad.yaml", line: 15, column: 32 },
    });
    expect(second.steps[1].differences[1]).toEqual({
      ...{ at: "body.error.message", expected: '"Nothing."', found: '"A valid API key is required."' },
      ...{ field: "story[1].expect.body.error.message", place: { file: "bad.yaml", line: 16, column: 33 } },
    });
    expect(third).toMatchObject({ passed: false, problems: [{ code: "unsupported_version" }], steps: [] });
  });

  it("honors --seed, --now and --profile", async () => {
    const story = storyScenario([
      "- request: { key: revoked }",
      "  expect: { headers: { x-request-id: true } }",
      "- advance: 1h",
    ]);
    expect((await verify({ "a.yaml": story }, ["a.yaml"])).code).toBe(1);
    const { code, stdout } = await verify({ "a.yaml": story }, [
      "a.yaml",
      "--profile",
      "typical",
      "--seed",
      "7",
      "--now",
      "2027-01-01T00:00:00Z",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/seed 7, from 2027-01-01T00:00:00Z/);
    expect(stdout).toMatch(/advance 1h → 2027-01-01T01:00:00Z/);
  });

  it("shows no key in full", async () => {
    const secret = "SVC_test_sbx0123456789abcdefghijklmnopqrs";
    const story = storyScenario([
      `- say: The key is ${secret}.`,
      `- request: { headers: { x-other: ${secret} } }`,
      `  expect: { body: ${secret} }`,
    ]);
    for (const flags of [[], ["--json"]]) {
      const { code, stdout } = await verify({ "a.yaml": story }, ["a.yaml", ...flags]);
      expect(code).toBe(1);
      expect(stdout).not.toMatch(/SVC_test_[\w-]/);
    }
  });

  it("runs every bundled one with a story with --all", async () => {
    const { stdout } = await verify({}, ["--all", "--json"]);
    const names = JSON.parse(stdout).map(({ name }: { name: string }) => name);
    expect(names.length).toBeGreaterThan(1);
    expect(JSON.parse(stdout).every(({ step_count }: { step_count: number }) => step_count > 0)).toBe(true);
  });
});

it("opens stdin only for -", async () => {
  const cwd = temporaryFolder({ "a.yaml": good });
  expect((await runCli(["verify", "a.yaml"], { cwd, rejectsInput: true })).code).toBe(0);
  expect((await runCli(["verify", "-"], { cwd, rejectsInput: true })).code).not.toBe(0);
});
