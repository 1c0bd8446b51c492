import { expect, test } from "vitest";
import { parseScenario } from "../src/scenario/parse-scenario.js";
import { serveControl } from "./control/client.js";
import { subscribe } from "./control/subscribe.js";
import { mePath } from "./support/doors.js";

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
    expect: { status: 200, path: 200.test }
  - rotate: { key: main, as: next, overlap: 0s }
  - request: { key: main }
    expect: { status: 403 }
  - revoke: { key: main }
    expect: { error: key_not_active }
  - advance: 61m
`);

test("a presenter tells the story step by step, in the world that everybody sees", async () => {
  const { ask, server } = await serveControl({ scenario });
  const next = async () => (await ask("/story/next", { method: "POST", json: {} })).body.data;
  expect((await ask("/story")).body.data).toEqual({
    steps: 6,
    told: 0,
    over: false,
    next: { number: 1, kind: "say", say: "A bank calls the API." },
  });
  expect(await next()).toMatchObject({
    steps: 6,
    told: 1,
    over: false,
    step: { number: 1, of: 6, kind: "say", say: "A bank calls the API.", request: null, differences: [] },
  });
  expect((await next()).step).toMatchObject({
    kind: "request",
    request: { method: "GET", path: mePath, key: "main", headers: { "x-trace": "a" }, body: null, times: 1 },
    answer: { status: 200, code: null, path_id: "200.test", fault: null },
    differences: [],
  });
  const rotated = (await next()).step.performed;
  expect(rotated).toMatchObject({ refusal: null, key: { state: "rotated" }, replacement: { ref: "next" } });

  // The presenter's own client has the new key, and sees what the story did.
  const own = await fetch(server.url + mePath, { headers: { "x-api-key": rotated.secret } });
  expect(own.status).toBe(200);

  expect((await next()).step).toMatchObject({
    answer: { status: 401, code: "unauthorized", path_id: "401.rotated" },
    differences: [{ at: "status", expected: "403", found: "401" }],
  });
  expect((await next()).step).toMatchObject({
    kind: "revoke",
    performed: { refusal: { code: "key_not_active" } },
    differences: [],
  });
  expect(await next()).toMatchObject({
    step: { kind: "advance", now: "2026-03-02T10:01:00.000Z" },
    over: true,
  });
  const over = { step: null, steps: 6, told: 6, over: true };
  expect([await next(), await next()]).toEqual([over, over]);
  expect((await ask("/clock")).body.data.now).toBe("2026-03-02T10:01:00.000Z");

  await ask("/reset", { method: "POST", json: {} });
  expect((await ask("/story")).body.data).toMatchObject({ told: 0, over: false });
  expect((await next()).step.kind).toBe("say");
});

test("what a story sends is in the journal, and not in the report about the client", async () => {
  const { ask, server } = await serveControl({ scenario });
  for (let told = 0; told < 4; told++) await ask("/story/next", { method: "POST", json: {} });
  expect(server.sandbox.requests.list().map(({ pathId }) => pathId)).toEqual(["200.test", "401.rotated"]);
  expect(server.sandbox.report()).toMatchObject({ requests: 0, coverage: { met: 0 } });
  await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret("main") } });
  expect(server.sandbox.report()).toMatchObject({ requests: 1, coverage: { met: 1 }, advice: [] });
});

test("subscribers hear of each step, and of no key", async () => {
  const { ask, server } = await serveControl({ scenario });
  const events = await subscribe(server.url);
  const secrets: string[] = [];
  for (let told = 0; told < 3; told++) {
    const { body } = await ask("/story/next", { method: "POST", json: {} });
    const secret = body.data.step.performed?.secret;
    if (secret !== undefined) secrets.push(secret);
  }
  await events.until((come) => come.length >= 5);
  const heard = events.events;
  expect(heard.map(({ event }) => event)).toEqual([
    "story.step",
    "request",
    "story.step",
    "key.rotated",
    "story.step",
  ]);
  const nothing = { advance: null, refusal: null, message: null, replacement: null, differences: [] };
  expect(heard[2]?.data).toEqual({
    at: "2026-03-02T09:00:00.000Z",
    step: 2,
    of: 6,
    kind: "request",
    say: null,
    key: "main",
    path_id: "200.test",
    as_expected: true,
    ...nothing,
  });
  expect(heard[4]?.data).toMatchObject({ ...nothing, kind: "rotate", key: "main", replacement: "next" });
  expect(secrets).toHaveLength(1);
  expect(JSON.stringify(heard)).not.toContain(secrets[0]);
});

test("subscribers hear which keys a step of the timeline is about, and why it was refused", async () => {
  const { ask, server } = await serveControl({
    scenario: {
      ...scenario,
      timeline: [
        { at: "10m", rotate: { key: "main", as: "next", overlap: "0s" } },
        { at: "20m", revoke: { key: "main" } },
      ],
    },
  });
  const events = await subscribe(server.url);
  await ask("/clock/advance", { method: "POST", json: { by: "1h" } });
  await events.until((come) => come.length >= 4);
  const steps = events.events.filter(({ event }) => event === "timeline.step").map(({ data }) => data);
  expect(steps).toEqual([
    {
      at: "2026-03-02T09:10:00.000Z",
      action: "rotate",
      key: "main",
      replacement: "next",
      refusal: null,
      message: null,
      expected: null,
    },
    {
      at: "2026-03-02T09:20:00.000Z",
      action: "revoke",
      key: "main",
      replacement: null,
      refusal: "key_not_active",
      message: expect.stringMatching(/^Failed to revoke the key "main": /),
      expected: null,
    },
  ]);
});

test("steps that are asked for at the same time are told one after the other", async () => {
  const { ask } = await serveControl({ scenario });
  const told = await Promise.all(
    Array.from({ length: 6 }, () => ask("/story/next", { method: "POST", json: {} })),
  );
  const numbers = told.map(({ body }) => body.data.step.number);
  expect(numbers.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a scenario without a story says so, and where one goes", async () => {
  const { ask } = await serveControl({
    scenario: { version: 1, name: "Silent", organizations: { bank: { type: "bank" } } },
  });
  expect((await ask("/story")).body.data).toEqual({ steps: 0, told: 0, over: true, next: null });
  const { status, body } = await ask("/story/next", { method: "POST", json: {} });
  expect([status, body.error.code]).toEqual([404, "not_found"]);
  expect(body.error.message).toContain("story:");
});
