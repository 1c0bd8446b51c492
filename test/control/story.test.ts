import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { serveControl } from "./client.js";

const mePath = "/v1/relying-party/me";
const scenario = parseScenario(`
version: 1
name: Told
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  harvest-bank:
    type: bank
    keys: { main: { environment: test } }
story:
  - say: A bank calls the API.
  - request: { key: main, headers: { X-Trace: a } }
    expect: { status: 200, outcome: 200.test }
  - rotate: { key: main, as: next, overlap: 0s }
  - request: { key: main }
    expect: { status: 403 }
  - revoke: { key: main }
    expect: { error: key_not_active }
  - advance: 61m
`);
const post = { method: "POST", json: {} };

test("a presenter runs the story step by step, in the sandbox that everyone sees", async () => {
  const { ask, server } = await serveControl({ scenario });
  const next = async () => (await ask("/story/next", post)).body.data;
  const first = { number: 1, kind: "say", say: "A bank calls the API." };
  const story = (await ask("/story")).body.data;
  expect(story).toMatchObject({ steps: 6, done: 0, over: false, changed: false, next: first, last: null });
  const kinds = ["say", "request", "rotate", "request", "revoke", "advance"];
  const texts = [
    null,
    "request with main",
    "rotate main, overlap 0s → next",
    "request with main",
    "revoke main",
    "advance 61m",
  ];
  expect(story.outline).toEqual(
    texts.map((text, index) => ({
      ...{ number: index + 1, kind: kinds[index], say: index ? null : first.say, text },
      ...{ done: false, as_expected: null },
    })),
  );
  expect(story.keys).toEqual(["main", "next"]);
  const say = {
    number: 1,
    of: 6,
    kind: "say",
    say: "A bank calls the API.",
    text: null,
    request: null,
    differences: [],
  };
  expect(await next()).toMatchObject({ steps: 6, done: 1, over: false, step: say });
  expect((await next()).step).toMatchObject({
    kind: "request",
    request: { method: "GET", path: mePath, key: "main", headers: { "x-trace": "a" }, body: null, times: 1 },
    response: { status: 200, code: null, outcome: "200.test", fault: null },
    differences: [],
  });
  const rotated = (await next()).step.performed;
  expect(rotated).toMatchObject({ error: null, key: { state: "rotated" }, replacement: { ref: "next" } });
  const { last } = (await ask("/story")).body.data;
  expect(last.text).toMatch(/^rotate main, .* → next$/);
  expect(last).toMatchObject({ number: 3, performed: { replacement: { ref: "next" }, secret: null } });
  expect(JSON.stringify(last)).not.toContain(rotated.secret);
  const own = await fetch(server.url + mePath, { headers: { "x-api-key": rotated.secret } });
  expect(own.status).toBe(200);
  expect((await next()).step).toMatchObject({
    response: { status: 401, code: "unauthorized", outcome: "401.rotated" },
    differences: [{ at: "status", expected: "403", found: "401" }],
  });
  const rejected = { kind: "revoke", performed: { error: { code: "key_not_active" } }, differences: [] };
  expect((await next()).step).toMatchObject(rejected);
  const passes = "61m later: 10:01 on 2 March 2026";
  const advance = { kind: "advance", text: passes, now: "2026-03-02T10:01:00.000Z" };
  expect(await next()).toMatchObject({ step: advance, over: true });
  const verdicts = (await ask("/story")).body.data.outline.map(
    (one: { as_expected: unknown }) => one.as_expected,
  );
  expect(verdicts).toEqual([null, true, null, false, true, null]);
  const over = { step: null, steps: 6, done: 6, over: true };
  expect([await next(), await next()]).toEqual([over, over]);
  // The journal has the requests of the story; the report is about the client alone.
  expect(server.sandbox.requests.list().map(({ outcome }) => outcome)).toHaveLength(3);
  expect(server.sandbox.report()).toMatchObject({ requests: 1, advice: [] });
  const { from_story: counts } = (await ask("/report?story=true")).body.data;
  expect(counts).toEqual({ "200.test": 1, "401.rotated": 1 });
  await ask("/reset", post);
  expect((await ask("/story")).body.data).toMatchObject({ done: 0, over: false, last: null });
});

test("a story names the keys of its steps: the default one, changed and created ones", async () => {
  const { ask } = await serveControl({
    scenario: parseScenario(`
version: 1
organizations: { bank: { type: bank, keys: { main: { environment: test }, old: { environment: test }, request: { environment: test } } } }
story:
  - request: {}
  - rotate: { key: old, as: new }
  - request: { key: none }
`),
  });
  expect((await ask("/story")).body.data.keys).toEqual(["main", "old", "new"]);
});

test("a scenario without a story has no next step", async () => {
  const { ask } = await serveControl({
    scenario: { version: 1, name: "Silent", organizations: { bank: { type: "bank" } } },
  });
  expect((await ask("/story")).body.data).toEqual({
    ...{
      steps: 0,
      done: 0,
      over: true,
      changed: false,
      next: null,
      keys: [],
      outline: [],
      last: null,
      name: "Silent",
      description: null,
    },
  });
  const { status, body } = await ask("/story/next", post);
  expect([status, body.error.code]).toEqual([404, "not_found"]);
});

const lasting = parseScenario(`
version: 1
clock: { now: 2026-03-02T09:00:00Z, frozen: false }
organizations: { bank: { type: bank, keys: { main: { environment: test } } } }
story:
  - say: A bank calls the API.
  - advance: 61m
  - request: { key: main }
`);

test.each([
  ["a start", false, [], false],
  ["a start with --frozen", true, [], true],
  ["PUT /clock", false, [["PUT", "/clock", { frozen: true }]], true],
  [
    "a new start during the story",
    false,
    [
      ["POST", "/story/next"],
      ["POST", "/reset"],
    ],
    false,
  ],
] as const)(
  "after %s, only the steps move the clock up to the last one, then it is as before, and nothing counts as changed",
  async (_title, frozen, before, wasFrozen) => {
    const { ask } = await serveControl({ scenario: lasting, frozen });
    for (const [method, path, json = {}] of before) await ask(path, { method, json });
    const seen = async () => [
      (await ask("/clock")).body.data.frozen,
      (await ask("/state")).body.data.changed,
    ];
    const [isFrozen, isChanged] = await seen();
    expect(isFrozen).toBe(wasFrozen);
    const after = [];
    for (let step = 1; step <= 4; step++) {
      await ask("/story/next", post);
      after.push(await seen());
    }
    expect(after).toEqual([true, true, wasFrozen, wasFrozen].map((frozen) => [frozen, isChanged]));
  },
);

test("a server that restarts during a story still knows how its clock was before", async () => {
  const folder = temporaryFolder();
  const state = join(folder, "state.json");
  const first = await serveControl({ scenario: lasting, frozen: false, state });
  await first.ask("/story/next", post);
  const copy = join(folder, "copy.json");
  copyFileSync(state, copy);
  const { ask } = await serveControl({ scenario: lasting, frozen: false, state: copy });
  expect((await ask("/clock")).body.data.frozen).toBe(true);
  for (let step = 2; step <= 3; step++) await ask("/story/next", post);
  expect((await ask("/clock")).body.data.frozen).toBe(false);
});
