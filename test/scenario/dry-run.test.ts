import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openScenario } from "../../src/node/files/scenario-files.js";
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

test("the text of a scenario is not read again for its places, also not one from stdin", async () => {
  const cwd = temporaryFolder({ "sandbox.yaml": failingStory });
  const { places } = await openScenario("sandbox.yaml", { cwd });
  rmSync(join(cwd, "sandbox.yaml"));
  const { locate } = await places();
  expect(locate(["story", 0, "request"])).toMatchObject({
    source: { file: "sandbox.yaml", text: failingStory },
  });
  const { stdout } = await runCli(["verify", "-"], { cwd, input: failingStory });
  expect(stdout).toMatch(/^-:13:\d+: step 1: status: expected 401, found 200$/m);
});

test("start serves such a scenario all the same and warns of the step, also when it is put in its place", async () => {
  const cwd = temporaryFolder({ "sandbox.yaml": failingStory });
  const running = startCli(["start", "sandbox.yaml", "--port", "0"], { cwd });
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

const withEndpoint = (scope: string, more = "") =>
  `${head}endpoints:\n  listConsents:\n    path: /consents\n    scope: ${scope}\n    body: []\n${more}`;
const unheld = /endpoints|scope/;

test.each([
  [
    "no key has it",
    withEndpoint("consents:raed"),
    /no key .* "consents:raed": each request gets 403.*add it to/,
  ],
  ["it is misspelled", withEndpoint("attestation:read"), /did you mean attestations:read\?/],
  [
    "of /me, no key has it",
    `${head}assumptions: { me_scope: consents:read }\n`,
    /no key .* "consents:read".*add it to/,
  ],
])("a scope gets a warning if %s", async (_what, text, words) => {
  const cwd = temporaryFolder({ "my.yaml": text });
  const { code, stdout, stderr } = await runCli(["validate", "my.yaml"], { cwd });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {2}my\.yaml/)]);
  expect(stderr.replaceAll("\n", " ")).toMatch(words);
  expect(stderr).toMatch(/^my\.yaml:\d+:\d+: [\s\S]*my\.yaml: 1 warning\n/);
  const { stdout: json } = await runCli(["validate", "my.yaml", "--json"], { cwd });
  expect(JSON.parse(json)[0].warnings).toMatchObject([
    { code: "scope_unheld", field: expect.stringMatching(unheld) },
  ]);
});

test.each([
  ["a key has it", withEndpoint("attestations:read")],
  [
    "a step gives it to a key",
    withEndpoint(
      "consents:read",
      timeline(
        "{ at: 1h, create_key: { organization: bank, environment: test, name: Late, scopes: [consents:read] } }",
      ),
    ),
  ],
  ["nobody asks for one", `${head}assumptions: { me_scope: null }\n`],
  [
    "there is no key yet",
    `version: 1\norganizations: { bank: { type: bank } }\nendpoints: { a: { path: /a, scope: a:b } }\n`,
  ],
])("a scope gets no warning if %s", async (_what, text) => {
  expect(await validate(text)).toMatchObject({ code: 0, stderr: "" });
});

test("start warns of a pinned secret that may be a real key, as validate does", async () => {
  const secret = `SVC_test_${"b".repeat(32)}`;
  const keys = `{ main: { environment: test, secret: ${secret} } }`;
  const cwd = temporaryFolder({
    "own.yaml": `version: 1\norganizations: { bank: { type: bank, keys: ${keys} } }\n`,
  });
  const running = startCli(["start", "own.yaml", "--port", "0"], { cwd });
  await running.stderr.shows(
    /Secrets of own\.yaml that may be real keys:\n\nown\.yaml:2:\d+: the secret of "main"/,
  );
  const { code, stderr } = await running.stop();
  expect(code).toBe(0);
  expect(stderr).not.toContain(secret);
});

test("start warns of a scope that no key has, also when the scenario is put in its place", async () => {
  const text = withEndpoint("attestation:read");
  const cwd = temporaryFolder({ "sandbox.yaml": text });
  const running = startCli(["start", "sandbox.yaml", "--port", "0"], { cwd });
  const url = await baseUrl(running);
  await running.stderr.shows(/Scopes of sandbox\.yaml that no key has:\n\nsandbox\.yaml:\d+:\d+: no key/);
  const send = async (path: string, method: string) => {
    const headers = { "content-type": "application/yaml" };
    return (await fetch(`${url}/__sandbox${path}`, { method, headers, body: text })).json();
  };
  expect((await send("/scenario", "PUT")).data.warnings).toEqual([
    expect.stringMatching(/^line \d+.*no key/),
  ]);
  expect((await send("/scenario/validate", "POST")).data.problems).toMatchObject([{ level: "warning" }]);
  expect((await running.stop()).code).toBe(0);
});
