import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Scenario } from "../../src/index.js";
import { type SandboxServer, type ServerOptions, startServer } from "../../src/node/index.js";
import { control } from "../support/call-control.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { subscribe } from "./subscribe.js";

const own = {
  version: 1,
  name: "Own",
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    "a-bank": {
      type: "bank",
      live_access: "approved",
      keys: {
        main: { environment: "test" },
        other: { environment: "test" },
        pinned: { environment: "test", secret: "SVC_test_sbxPinnedByTheScenario0000000" },
      },
    },
  },
} as const;

function stateFile(): string {
  return join(temporaryFolder(), "state.json");
}

async function start(state: string, options: Partial<ServerOptions> = {}): Promise<SandboxServer> {
  const server = await startServer({ scenario: own, ...options, state });
  onTestFinished(() => server.close(0));
  return server;
}

/** The file as it would be left behind if the server were killed now. */
function copyOf(file: string): string {
  const copy = stateFile();
  writeFileSync(copy, readFileSync(file));
  return copy;
}

async function statusOf(server: SandboxServer, secret: string): Promise<number> {
  return (await fetch(`${server.url}/v1/relying-party/me`, { headers: { "x-api-key": secret } })).status;
}

async function whole(server: SandboxServer) {
  return (await control(server.controlUrl, "GET /state")).body.data;
}

test("what administrators did survives a restart, and keys made at run time still work", async () => {
  const file = stateFile();
  const before = await start(file);
  const call = (line: string, body: object = {}) => control(before.controlUrl, line, body);
  const made = await call("POST /keys", { organization: "a-bank", environment: "test", name: "CI" });
  const rotated = await call("POST /keys/main/rotate", { overlap_minutes: 30 });
  await call("POST /keys/other/revoke");
  await call("POST /clock/advance", { by: "10m" });
  await call("PATCH /organizations/a-bank", { live_access: "suspended" });
  await call("PUT /assumptions", { rate_limit_code: "slow_down" });
  await call("PUT /faults", { faults: [{ when: { key: "main", every: 1000 }, then: { status: 503 } }] });
  const expected = await whole(before);

  const after = await start(copyOf(file));
  expect(await whole(after)).toEqual(expected);
  const faults = (await control(after.controlUrl, "GET /faults")).body.data;
  expect(faults).toMatchObject([{ then: { status: 503 } }]);
  expect(expected.keys.find(({ ref }: { ref: string }) => ref === "other").revoked_at).toBe(
    "2026-03-02T09:00:00.000Z",
  );
  expect(expected.clock).toEqual({ now: "2026-03-02T09:10:00.000Z", frozen: true });
  expect(await statusOf(after, made.body.data.secret)).toBe(200);
  expect(await statusOf(after, rotated.body.data.secret)).toBe(200);
  expect(await statusOf(after, after.sandbox.secret("main"))).toBe(200);
  expect(await statusOf(after, after.sandbox.secret("other"))).toBe(401);
  await control(after.controlUrl, "POST /clock/advance", { by: "31m" });
  expect(await statusOf(after, after.sandbox.secret("main"))).toBe(401);
});

test("requests are in the file soon, and when the server stops", async () => {
  const file = stateFile();
  const server = await start(file);
  for (let i = 0; i < 3; i++) await statusOf(server, server.sandbox.secret("main"));
  const today = () =>
    JSON.parse(readFileSync(file, "utf8")).world.organizations["a-bank"].keys.main.usage.today;
  await vi.waitFor(() => expect(today()).toBe(3), { timeout: 20_000, interval: 10 });
  await statusOf(server, server.sandbox.secret("main"));
  await server.close();
  expect(today()).toBe(4);
  const after = await start(file);
  expect(after.sandbox.keys.get("main").usage).toEqual({ thisMinute: 4, today: 4 });
});

test("nothing is written while nothing happens", async () => {
  const file = stateFile();
  const server = await start(file);
  rmSync(file);
  await server.close();
  expect(existsSync(file)).toBe(false);
});

test("reset after a restart goes back to the scenario, with the seed and the clock of the first start", async () => {
  const file = stateFile();
  const options = { seed: 7, now: "2027-01-01T00:00:00Z", frozen: true, profile: "typical" } as const;
  const before = await start(file, options);
  const expected = await whole(before);
  const secret = before.sandbox.secret("main");
  await control(before.controlUrl, "POST /keys/main/revoke", {});
  await control(before.controlUrl, "POST /clock/advance", { by: "1d" });

  const after = await start(copyOf(file), { seed: 8 });
  expect(after.sandbox.seed).toBe(7);
  await control(after.controlUrl, "POST /reset", {});
  expect(await whole(after)).toEqual(expected);
  expect(after.sandbox.secret("main")).toBe(secret);
});

test.each([
  ["a running clock goes on by the time that has passed", false, -3_600_000, 3_600_000],
  ["a frozen clock stays", true, -3_600_000, 0],
  ["a wall clock that was set back does not move the sandbox's back", false, 3_600_000, 0],
] as const)("%s", async (_title, frozen, shift, moved) => {
  const file = stateFile();
  const before = await start(file, { frozen, now: "2026-03-02T09:00:00Z" });
  await control(before.controlUrl, "POST /clock/advance", { by: "1h" });
  const state = JSON.parse(readFileSync(file, "utf8"));
  const savedAt = new Date(Date.parse(state.saved_at) + shift).toISOString();
  writeFileSync(file, JSON.stringify({ ...state, saved_at: savedAt }));
  const now = Date.parse((await start(copyOf(file))).sandbox.clock.now());
  const expected = Date.parse(state.world.clock.now) + moved;
  expect(now).toBeGreaterThanOrEqual(expected);
  // Time has passed meanwhile on a busy machine.
  expect(now).toBeLessThan(expected + (frozen ? 1 : 600_000));
});

test("a later scenario goes on after a restart; new scenarios and instances start as the options say", async () => {
  const file = stateFile();
  const before = await start(file, { seed: 7 });
  await control(before.controlUrl, "PUT /scenario", { name: "rotation" });
  const organization = before.sandbox.organizations.list()[0]?.ref;
  await control(before.controlUrl, "POST /keys", { organization, environment: "test", name: "CI" });
  const after = await start(copyOf(file), { seed: 8 });
  const { sandbox, controlUrl } = after;
  expect([sandbox.name, sandbox.seed, sandbox.keys.get("ci").state]).toEqual(["rotation", 7, "active"]);
  const { keys, seed } = (await control(controlUrl, "POST /instances", {})).body.data;
  expect([Object.keys(keys).includes("ci"), seed]).toEqual([false, 7]);
  await control(controlUrl, "POST /reset", {});
  expect([sandbox.name, sandbox.seed]).toEqual(["rotation", 7]);
  await control(controlUrl, "PUT /scenario", { name: "active" });
  expect(sandbox.seed).toBe(8);
});

test("a population goes on as it was: farmers and keys", async () => {
  const population = { organizations: 2, farmers: 1500, locale: "fr" } as const;
  const scenario = { version: 1, clock: { now: "2026-03-02T09:00:00Z" }, population } as const;
  const file = stateFile();
  const before = await start(file, { scenario });
  before.sandbox.clock.advance("700d");
  before.sandbox.keys.revoke("organization-1-key-1");
  const farmers = before.sandbox.farmers.list();
  const { sandbox } = await start(copyOf(file), { scenario });
  expect([sandbox.keys.get("organization-1-key-1").state, sandbox.clock.now().slice(0, 7)]).toEqual([
    "revoked",
    "2028-01",
  ]);
  expect(sandbox.farmers.list()).toEqual(farmers);
  sandbox.reset();
  expect(sandbox.keys.get("organization-1-key-1").state).toBe("active");
});

test("R35 the file holds no secret but those that the scenario pins, and is its owner's alone", async () => {
  const file = stateFile();
  const server = await start(file);
  const made = await control(server.controlUrl, "POST /keys", {
    organization: "a-bank",
    environment: "test",
    name: "CI",
  });
  const text = readFileSync(file, "utf8");
  expect(text).not.toContain(made.body.data.secret);
  expect(text).not.toContain(server.sandbox.secret("main"));
  expect(text).toContain(own.organizations["a-bank"].keys.pinned.secret);
  expect(text).toContain(`"sha256":"`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(existsSync(`${file}.tmp`)).toBe(false);
});

test("a change that cannot be written is answered with 500, and is written once there is room again", async () => {
  const folder = join(temporaryFolder(), "volume");
  mkdirSync(folder);
  const file = join(folder, "state.json");
  const defects: unknown[] = [];
  const server = await start(file, { onDefect: (error) => defects.push(error) });
  rmSync(folder, { recursive: true });
  const subscriber = await subscribe(server.url);
  const { status, body } = await control(server.controlUrl, "POST /keys/main/revoke", {});
  // Subscribers hear of it: it has happened.
  await subscriber.until((events) => events.some(({ event }) => event === "key.revoked"));
  expect([status, body.error.code]).toEqual([500, "internal_error"]);
  expect(defects).toEqual([
    expect.objectContaining({
      code: "state_unwritable",
      message: expect.stringMatching(
        /^Failed to write the state to ".*state\.json": its folder does not exist\. The change is made/,
      ),
    }),
  ]);
  expect(await statusOf(server, server.sandbox.secret("other"))).toBe(200);
  mkdirSync(folder);
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 5000, interval: 20 });
  const after = await start(copyOf(file));
  expect(after.sandbox.keys.get("main").state).toBe("revoked");
});

test("a timeline and a story go on after a restart where they were", async () => {
  const file = stateFile();
  const scenario: Scenario = {
    ...structuredClone(own),
    timeline: [
      { at: "10m", rotate: { key: "main", as: "next", overlap: "0s" } },
      { at: "30m", revoke: { key: "next" } },
    ],
    story: [{ say: "One." }, { rotate: { key: "other", as: "told" } }, { request: { key: "told" } }],
  };
  const before = await start(file, { scenario });
  const next = async ({ controlUrl }: SandboxServer) =>
    (await control(controlUrl, "POST /story/next", {})).body.data.step;
  await control(before.controlUrl, "POST /clock/advance", { by: "20m" });
  await next(before);
  const { secret } = (await next(before)).performed;
  const after = await start(copyOf(file), { scenario });
  expect(after.sandbox.keys.list()).toEqual(before.sandbox.keys.list());
  expect((await control(after.controlUrl, "GET /story")).body.data).toMatchObject({ told: 2, steps: 3 });
  // Its secret is in no file: the seed gives it again.
  expect(readFileSync(file, "utf8")).not.toContain(secret);
  expect(await next(after)).toMatchObject({ number: 3, of: 3, answer: { status: 200 } });
  await control(after.controlUrl, "POST /clock/advance", { by: "10m" });
  expect(after.sandbox.keys.get("next")).toMatchObject({
    state: "revoked",
    revokedAt: "2026-03-02T09:30:00.000Z",
  });
  await control(after.controlUrl, "POST /reset", {});
  expect(after.sandbox.keys.list().map(({ ref }) => ref)).toEqual(["main", "other", "pinned"]);
  expect((await control(after.controlUrl, "GET /story")).body.data).toMatchObject({ told: 0, steps: 3 });
});
