import { afterEach, describe, expect, test, vi } from "vitest";
import { createSandbox, type Sandbox, type Scenario } from "../../src/index.js";
import { continued, snapshot } from "../support/continued.js";

const start = "2026-03-02T09:00:00.000Z";
const mePath = "/v1/relying-party/me";
const scenario: Scenario = {
  version: 1,
  clock: { now: start },
  organizations: { bank: { type: "bank", keys: { main: { environment: "test", expires: "10m" } } } },
};

const call = (sandbox: Sandbox, secret: string) =>
  sandbox.fetch(`https://api.example${mePath}`, { headers: { "x-api-key": secret } });
const statusOf = async (sandbox: Sandbox, ref: string) => (await call(sandbox, sandbox.secret(ref))).status;
const rejection = (code: string) => expect.objectContaining({ code });

afterEach(() => {
  vi.useRealTimers();
});

describe("the clock", () => {
  test.each([
    ["before", true],
    ["after", false],
  ])("moves with a test runner's fake timers, switched on %s the sandbox is made", async (_when, early) => {
    if (early) vi.useFakeTimers();
    const sandbox = createSandbox({ scenario, frozen: true });
    if (!early) vi.useFakeTimers();
    sandbox.clock.resume();
    expect(await statusOf(sandbox, "main")).toBe(200);
    vi.advanceTimersByTime(10 * 60_000 - 1);
    expect(await statusOf(sandbox, "main")).toBe(200);
    vi.advanceTimersByTime(1);
    expect(await statusOf(sandbox, "main")).toBe(401);
    expect(sandbox.clock.now()).toBe("2026-03-02T09:10:00.000Z");
  });

  test.each([
    ["is advanced by 61m", "2026-03-02T10:01:00.000Z", ({ clock }: Sandbox) => clock.advance("61m")],
    ["is advanced by 7d", "2026-03-09T09:00:00.000Z", ({ clock }: Sandbox) => clock.advance("7d")],
    ["is advanced by a millisecond", "2026-03-02T09:00:00.001Z", ({ clock }: Sandbox) => clock.advance(1)],
    ["is advanced by nothing", start, ({ clock }: Sandbox) => clock.advance(0)],
    [
      "is set to an ISO time",
      "2026-03-02T10:00:00.000Z",
      ({ clock }: Sandbox) => clock.set("2026-03-02T12:00:00+02:00"),
    ],
    ["is set to epoch milliseconds", start, ({ clock }: Sandbox) => clock.set(Date.parse(start))],
    ["is set to a Date", start, ({ clock }: Sandbox) => clock.set(new Date(start))],
  ])("%s: %s", (_title, now, move) => {
    expect(move(createSandbox({ scenario, frozen: true }))).toBe(now);
  });

  test.each([
    ["a negative advance", "clock_backwards", ({ clock }: Sandbox) => clock.advance("-1s")],
    ["a time that is past", "clock_backwards", ({ clock }: Sandbox) => clock.set("2026-03-02T08:59:59.999Z")],
    ["half a millisecond", "validation_failed", ({ clock }: Sandbox) => clock.advance(0.5)],
    ["no number", "validation_failed", ({ clock }: Sandbox) => clock.advance(Number.NaN)],
    ["a duration with a plus", "validation_failed", ({ clock }: Sandbox) => clock.advance("+1h")],
    ["a duration in words", "validation_failed", ({ clock }: Sandbox) => clock.advance("an hour" as "1h")],
    ["a time without a zone", "validation_failed", ({ clock }: Sandbox) => clock.set("2026-03-03T00:00:00")],
    ["a date that is none", "validation_failed", ({ clock }: Sandbox) => clock.set(new Date("x"))],
    ["a time after the year 9999", "validation_failed", ({ clock }: Sandbox) => clock.set(8e15)],
    ["an advance beyond it", "validation_failed", ({ clock }: Sandbox) => clock.advance(8e15)],
    ["an endless advance", "validation_failed", ({ clock }: Sandbox) => clock.advance(Infinity)],
  ])("rejects %s with %s, and shows what it showed", (_title, code, move) => {
    const sandbox = createSandbox({ scenario, frozen: true });
    expect(() => move(sandbox)).toThrow(rejection(code));
    expect(sandbox.clock.now()).toBe(start);
  });

  test("starts at the latest at the last time that it can show, whoever sets it", () => {
    const late = "9999-12-25T00:00:00Z";
    expect(() => createSandbox({ scenario, now: late })).toThrow(rejection("validation_failed"));
    const clock = { now: late };
    expect(() => createSandbox({ scenario: { ...scenario, clock } })).toThrow(
      expect.objectContaining({
        problems: [expect.objectContaining({ code: "out_of_range", field: "clock.now" })],
      }),
    );
    const last = createSandbox({ scenario, now: "9999-12-24T23:59:59.999Z", frozen: true });
    expect(last.clock.now()).toBe("9999-12-24T23:59:59.999Z");
  });

  test("starts again with a reset, at the scenario's time or the real time", () => {
    vi.useFakeTimers({ now: Date.parse("2026-06-01T00:00:00Z") });
    const pinned = createSandbox({ scenario, frozen: true });
    const real = createSandbox({ scenario: { version: 1, organizations: { bank: { type: "bank" } } } });
    for (const { clock } of [pinned, real]) clock.advance("30d");
    pinned.clock.resume();
    vi.advanceTimersByTime(1_000);
    for (const sandbox of [pinned, real]) sandbox.reset();
    expect([pinned.clock.now(), pinned.clock.isFrozen()]).toEqual([start, true]);
    expect(real.clock.now()).toBe("2026-06-01T00:00:01.000Z");
  });

  test("at the end of all time overlaps and expiries can still be written down", () => {
    const sandbox = createSandbox({ scenario, frozen: true });
    sandbox.clock.set("9999-12-24T23:59:59.999Z");
    const last = { organization: "bank", environment: "test", name: "Last" } as const;
    sandbox.keys.create({ ...last, expires: "9999-12-31T23:59:59.999Z" });
    sandbox.keys.rotate("last", { overlap: "7d" });
    expect(snapshot(continued(sandbox))).toEqual(snapshot(sandbox));
    expect(() => sandbox.clock.advance(1)).toThrow(rejection("validation_failed"));
  });
});

describe("a sandbox", () => {
  test("responds for any host, and only on its paths", async () => {
    const sandbox = createSandbox({ scenario });
    const headers = { "x-api-key": sandbox.secret("main") };
    for (const base of ["https://api.example", "http://127.0.0.1:1", "https://[::1]"]) {
      expect((await sandbox.fetch(new URL(base + mePath), { headers })).status).toBe(200);
    }
    const request = new Request(`https://x.example${mePath}?a=b`, { headers });
    expect((await sandbox.fetch(request)).status).toBe(200);
    expect((await sandbox.fetch("https://x.example/v2", { headers })).status).toBe(404);
  });

  test("rejects, as fetch does, a request that is aborted or not one, and does not count it", async () => {
    const sandbox = createSandbox({ scenario });
    const headers = { "x-api-key": sandbox.secret("main") };
    const signal = AbortSignal.abort();
    await expect(sandbox.fetch(`https://x.example${mePath}`, { headers, signal })).rejects.toThrow(
      expect.objectContaining({ name: "AbortError" }),
    );
    await expect(sandbox.fetch(mePath, { headers })).rejects.toThrow(TypeError);
    expect([sandbox.requests.total(), sandbox.keys.get("main").usage.today]).toEqual([0, 0]);
  });

  test("lists what was asked of it, oldest first, and forgets it on demand", async () => {
    const sandbox = createSandbox({ scenario, frozen: true });
    await call(sandbox, sandbox.secret("main"));
    await call(sandbox, sandbox.secret("unknown"));
    await call(sandbox, "not a key");
    expect(sandbox.requests.list()).toMatchObject([
      { at: start, method: "GET", path: mePath, key: "main", status: 200, code: null, outcome: "200.test" },
      { key: null, status: 401, code: "unauthorized", outcome: "401.unknown" },
      { key: null, status: 401, code: "unauthorized", outcome: "401.malformed" },
    ]);
    expect(sandbox.requests.list({ outcome: "401.unknown" })).toHaveLength(1);
    expect(sandbox.requests.list({ key: "main" })).toHaveLength(1);
    expect(sandbox.requests.list({ limit: 1 })).toMatchObject([{ outcome: "401.malformed" }]);
    sandbox.requests.clear();
    expect([sandbox.requests.list(), sandbox.requests.total()]).toEqual([[], 0]);
  });

  test("names the existing refs if the secret of an unknown ref is requested", () => {
    const sandbox: Sandbox = createSandbox({ scenario });
    const details = { kind: "key", ref: "mian", known: ["main"], count: 1 };
    expect(() => sandbox.secret("mian")).toThrow(expect.objectContaining({ code: "unknown_ref", details }));
  });

  test("rejects as an unknown ref what no text can be made of", () => {
    const sandbox = createSandbox({ scenario });
    const mapping = Object.create(null) as never;
    const unknown = expect.objectContaining({ code: "unknown_ref" });
    expect(() => sandbox.secret(mapping)).toThrow(unknown);
    expect(() => sandbox.keys.get(mapping)).toThrow(unknown);
    expect(() => sandbox.farmers.get(mapping)).toThrow(unknown);
  });

  test("rejects a scenario that does not exist or is not valid when it is created", () => {
    const wrong = { version: 1, organisations: {} };
    expect(() => createSandbox({ scenario: "./x.yaml" as never })).toThrow(
      "loadScenario of svc-sandbox/node",
    );
    expect(() => createSandbox({ scenario: "key-sates" as never })).toThrow(rejection("scenario_not_found"));
    expect(() => createSandbox({ scenario: wrong as never })).toThrow(rejection("scenario_invalid"));
    expect(() => createSandbox({ now: "yesterday" })).toThrow(rejection("validation_failed"));
  });

  test.each([-1, 1.5, Number.NaN, "7", null])("rejects the seed %s", (seed) => {
    expect(() => createSandbox({ seed: seed as number })).toThrow(rejection("validation_failed"));
  });

  test("is not changed by what is done to the values that it gives out or was made from", async () => {
    const mine = structuredClone(scenario);
    const sandbox = createSandbox({ scenario: mine, frozen: true });
    const fresh = createSandbox({ scenario, frozen: true });
    const { keys, organizations } = sandbox;
    const given = [mine, snapshot(sandbox), sandbox.assumptions, keys.list(), keys.get("main")];
    mangle([...given, organizations.list(), organizations.get("bank"), sandbox.requests.list()]);
    expect(snapshot(sandbox)).toEqual(snapshot(fresh));
    sandbox.reset();
    // The request ids are of the next series.
    const next = { requestIds: { series: 1, count: 0 } };
    expect(snapshot(sandbox)).toEqual({ ...snapshot(fresh), ...next });
    expect(sandbox.assumptions).toEqual(fresh.assumptions);
    expect(createSandbox().assumptions).toEqual(fresh.assumptions);
  });

  test("a rejection gives out no list of the sandbox's own", () => {
    const sandbox = createSandbox({ scenario, frozen: true });
    const key = { organization: "bank", environment: "test", name: "CI", scopes: ["x"] } as const;
    try {
      sandbox.keys.create(key);
    } catch (error) {
      mangle((error as { details: object }).details);
    }
    expect(() => sandbox.keys.create(key)).toThrow(rejection("unknown_scope"));
    expect(sandbox.assumptions.scopes).toContain("attestations:read");
  });
});

/** Changes everything in a value that can be changed. */
function mangle(value: object): void {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === "object" && member !== null) mangle(member);
    else (value as Record<string, unknown>)[name] = "mangled";
  }
  if (Array.isArray(value)) value.push("x");
}
