import { expect, test } from "vitest";
import { baseUrl, runCli, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const head = `version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  bank:
    type: bank
    live_access: approved
    keys:
      active: { environment: test }
      other: { environment: test }
      live: { environment: live }
      gone: { environment: test, state: revoked }
`;
const story = (...steps: string[]) => `story:\n${steps.map((step) => `  - ${step}\n`).join("")}`;
const timeline = (...steps: string[]) => `timeline:\n${steps.map((step) => `  - ${step}\n`).join("")}`;

function validate(text: string, flags: readonly string[] = []) {
  return runCli(["validate", "sandbox.yaml", ...flags], { cwd: temporaryFolder({ "sandbox.yaml": text }) });
}

/** What looks as if it could not come out, and does. */
const fine: Readonly<Record<string, string>> = {
  "a timeline that revokes a key which the story rotates": `${timeline("{ at: 10m, revoke: { key: active } }")}${story(
    "rotate: { key: active, as: active-2, overlap: 60m }",
    "advance: 61m",
    "{ request: { key: active }, expect: { status: 401 } }",
  )}`,
  "a timeline that revokes a key which the story makes":
    timeline("{ at: 10m, revoke: { key: other-2 } }") + story("rotate: { key: other }", "advance: 1h"),
  "what is rejected, as the step says":
    timeline("{ at: 10m, revoke: { key: gone }, expect: { error: key_not_active } }") +
    story("{ revoke: { key: active, actor: member }, expect: { error: not_an_administrator } }"),
  "what is left of the timeline of a snapshot": `requests_responded: 0\n${timeline("{ at: 10m, revoke: { key: gone } }")}`,
};

test.each(Object.entries(fine))("validate accepts %s", async (_title, text) => {
  expect(await validate(head + text)).toMatchObject({ code: 0, stderr: "" });
});

test.each([
  [4999, 1],
  [5000, 0],
])(
  "after %d requests, another one of a story ends validate with %d: it tries 5,000",
  async (repeat, code) => {
    const failing = "{ request: { key: none }, expect: { status: 200 } }";
    expect((await validate(head + story(`request: { repeat: ${repeat} }`, failing))).code).toBe(code);
  },
);

const failingStory = head + story("{ request: {}, expect: { status: 401 } }");

test("start serves such a scenario all the same and warns of the step, also when it is put in its place", async () => {
  const cwd = temporaryFolder({ "sandbox.yaml": failingStory });
  const running = startCli(["start", "sandbox.yaml", "--port", "0", "--log", "off"], { cwd });
  const url = await baseUrl(running);
  await running.stderr.shows(/Steps of sandbox\.yaml that may fail:\n\nsandbox\.yaml:13:\d+: status/);
  const response = await fetch(`${url}/__sandbox/scenario`, {
    method: "PUT",
    headers: { "content-type": "application/yaml" },
    body: failingStory,
  });
  expect([response.status, (await response.json()).data.warnings]).toEqual([
    200,
    [expect.stringMatching(/^line 13, column \d+: status: expected 401, found 200/)],
  ]);
  expect((await running.stop()).code).toBe(0);
});
