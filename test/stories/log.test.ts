import { expect, it } from "vitest";
import { control } from "../support/call-control.js";
import { baseUrl, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scenario = `version: 1
clock: { now: 2026-03-02T09:00:00Z, frozen: true }
organizations:
  a-bank: { type: bank, keys: { main: { environment: test } } }
timeline:
  - { at: 10m, rotate: { key: main, as: main-2, overlap: 0s } }
  - { at: 20m, revoke: { key: main } }
  - { at: 90m, create_key: { organization: a-bank, environment: test, name: CI } }
story:
  - say: "A bank\\ncalls."
  - advance: 30m
  - request: { key: main }
    expect: { status: 200 }
  - rotate: { key: main-2, as: main-3 }
  - revoke: { key: main }
    expect: { error: name_taken }
`;

async function notifyAll(argv: readonly string[]) {
  const running = startCli(["a.yaml", "--port", "0", ...argv], {
    cwd: temporaryFolder({ "a.yaml": scenario }),
  });
  const url = await baseUrl(running);
  const post = (path: string, body = {}) => control(`${url}/__sandbox`, `POST ${path}`, body);
  const secrets: string[] = [];
  for (let told = 0; told < 5; told++) {
    const text = JSON.stringify((await post("/story/next")).body);
    secrets.push(...(text.match(/SVC_test_sbx\w{29}/g) ?? []));
  }
  await post("/clock/advance", { by: "2h" });
  const { stderr } = await running.stop();
  expect(secrets).toHaveLength(1);
  expect(stderr).not.toMatch(/SVC_test_\w/);
  // The warning of the steps that will not come out comes when it is ready, and its lines have no time.
  return stderr
    .trimEnd()
    .split("\n")
    .slice(0, -1)
    .filter((line) => /^(?:2026-|\{)/.test(line) && !/"(?:note|control)"/.test(line));
}

it("logs steps of the timeline and of the story, without keys", async () => {
  const lines = await notifyAll([]);
  const why = '\\(Failed to revoke the key "main": .+\\)';
  const wanted = [
    /^2026-03-02T09:00:00Z {2}story 1\/5 {2}A bank calls\.$/,
    /^2026-03-02T09:10:00Z {2}timeline {2}rotate main, overlap 0s → main-2$/,
    new RegExp(`^2026-03-02T09:20:00Z {2}timeline {2}revoke main → rejected: key_not_active ${why}$`),
    /^2026-03-02T09:30:00Z {2}story 2\/5 {2}advance 30m → 2026-03-02T09:30:00Z$/,
    /^2026-03-02T09:30:00Z {2}GET {3}/,
    /^2026-03-02T09:30:00Z {2}story 3\/5 {2}GET \S+ with main → 401 unauthorized {2}401\.rotated {2}unexpected: status: expected 200, found 401$/,
    /^2026-03-02T09:30:00Z {2}story 4\/5 {2}rotate main-2 → main-3$/,
    new RegExp(
      `^2026-03-02T09:30:00Z {2}story 5/5 {2}revoke main → rejected: key_not_active ${why} {2}unexpected: error: expected "name_taken", found "key_not_active"`,
    ),
    /^2026-03-02T10:30:00Z {2}timeline {2}create_key organization a-bank, environment test, name CI → ci$/,
  ];
  expect(lines).toHaveLength(wanted.length);
  for (const [index, pattern] of wanted.entries()) expect(lines[index]).toMatch(pattern);
});

it("logs them as JSON, a line each", async () => {
  const lines = (await notifyAll(["--log", "json"])).map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual([
    "story.step",
    "timeline.step",
    "timeline.step",
    "story.step",
    "request",
    "story.step",
    "story.step",
    "story.step",
    "timeline.step",
  ]);
  expect(lines[1]).toEqual({
    ...{ level: "info", event: "timeline.step", time: expect.any(String), at: "2026-03-02T09:10:00.000Z" },
    ...{
      action: "rotate",
      key: "main",
      replacement: "main-2",
      error: null,
      message: null,
      expected: null,
    },
  });
  expect(lines[2]).toMatchObject({ error: "key_not_active", message: expect.stringContaining('"main"') });
  expect(lines[3]).toMatchObject({ kind: "advance", advance: "30m", step: 2, of: 5, as_expected: true });
  expect(lines[5]).toMatchObject({
    key: "main",
    outcome: "401.rotated",
    differences: [{ at: "status", expected: "200", found: "401" }],
  });
});
