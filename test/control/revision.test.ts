import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSandbox, type ScenarioSource } from "../../src/index.js";
import { nodePlatform } from "../../src/node/platform.js";
import { type ServedControl, serveControl } from "./client.js";
import { writesFor } from "./writes.js";

const mePath = "/v1/relying-party/me";
const scenario = { ...createSandbox({ frozen: true }).snapshot(), story: [{ say: "Hello." }] };

const serve = (options = {}) => serveControl({ scenario, ...options });

const createInstance = async ({ ask }: ServedControl) => {
  const { id, keys } = (await ask("/instances", { method: "POST", json: {} })).body.data;
  return { id, keys, base: `/i/${id}` };
};

const send = ({ server }: ServedControl, base = "") => fetch(server.url + base + mePath);

/** Returns whether the revision differs after something happened. */
async function differsAfter({ ask }: ServedControl, base: string, act: () => unknown): Promise<boolean> {
  const revision = async () => (await ask("/revision", { base })).body.data as string;
  const before = await revision();
  // Asking changes nothing.
  expect(await revision()).toBe(before);
  await act();
  return (await revision()) !== before;
}

/** A steady time that only the test moves. */
function stoppedTime() {
  let now = 1e6;
  const spy = vi.spyOn(nodePlatform, "steadyTime").mockImplementation(() => now);
  onTestFinished(() => void spy.mockRestore());
  return {
    pass(milliseconds: number): void {
      now += milliseconds;
    },
  };
}

const changeNothing = ["/stop", "/scenario/validate", "/keys/active/secret"];
const changes = writesFor("")
  .filter(({ path }) => !changeNothing.includes(path) && !path.startsWith("/instances"))
  .map((write) => [`${write.method} ${write.path}${write.bytes ? " (YAML)" : ""}`, write] as const);

describe("the revision", () => {
  test.each(changes)(
    "differs after %s, for a server and for an instance",
    async (_name, { path, ...call }) => {
      const control = await serve();
      const { base: ofInstance } = await createInstance(control);
      for (const base of ["", ofInstance]) {
        const change = async () =>
          expect((await control.ask(path, { ...call, base })).status).toBeLessThan(300);
        expect(await differsAfter(control, base, change)).toBe(true);
      }
    },
  );

  test("differs after a request of a client, and after a client has given up", async () => {
    const faults = [{ when: { key: "active" }, then: { latency: "1m" } }];
    const control = await serve({ scenario: { ...scenario, faults } });
    const { base: ofInstance, keys } = await createInstance(control);
    for (const [base, key] of [
      ["", control.server.sandbox.secret("active")],
      [ofInstance, keys.active],
    ] as const) {
      expect(await differsAfter(control, base, () => send(control, base))).toBe(true);
      const giveUp = new AbortController();
      const headers = { "x-api-key": key };
      const waiting = fetch(control.server.url + base + mePath, { headers, signal: giveUp.signal });
      const requests = async () => (await control.ask("/requests", { base })).body.data;
      await expect.poll(async () => (await requests()).length).toBe(2);
      const isUnread = async () => (await requests()).at(-1).unread;
      const end = async () => {
        giveUp.abort();
        await expect(waiting).rejects.toThrow();
        await expect.poll(isUnread).toBe(true);
      };
      expect(await differsAfter(control, base, end)).toBe(true);
    }
  });

  test("differs only for the server after its list of instances, or their traffic, has changed", async () => {
    const control = await serve();
    const [first, second] = [await createInstance(control), await createInstance(control)];
    const remove = ({ id }: { id: string }) => control.ask(`/instances/${id}`, { method: "DELETE" });
    const acts = [
      () => send(control, second.base),
      () => createInstance(control),
      async () => {
        await remove(second);
        await createInstance(control);
      },
    ];
    for (const act of acts) {
      const ofServer = differsAfter(control, "", act);
      expect(await ofServer).toBe(true);
      expect(await differsAfter(control, first.base, act === acts[0] ? () => {} : act)).toBe(false);
    }
    expect(await differsAfter(control, "", () => remove(first))).toBe(true);
  });

  test.each([
    ["a key expires", "30m", "fixed"],
    ["an overlap ends", "45m", "fixed"],
    ["a fault starts", "5m", "fixed"],
    ["a fault ends", "10m", "fixed"],
    ["a step of the timeline is due", "20m", "fixed"],
    ["the limits per minute reset", "1m", "fixed"],
    ["a request leaves a sliding minute", "70s", "sliding"],
  ] as const)("differs once %s, and time alone makes no difference", async (_event, at, minute_window) => {
    const time = stoppedTime();
    const control = await serveControl({ frozen: false, scenario: timed(minute_window) });
    const { ask, server } = control;
    time.pass(10_000);
    await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret("main") } });
    const due = { m: 60_000, s: 1000 }[at.at(-1) as "m" | "s"] * Number.parseInt(at, 10);
    time.pass(due - 10_001);
    // What was due before has happened.
    await ask("/state");
    expect(await differsAfter(control, "", () => time.pass(0.5))).toBe(false);
    expect(await differsAfter(control, "", () => time.pass(1))).toBe(true);
  });

  test("of an instance is no use of it, and counts for no limit", async () => {
    const watch = vi.spyOn(nodePlatform, "stopwatch").mockReturnValue(1e6);
    onTestFinished(() => void watch.mockRestore());
    const control = await serve();
    const json = { requests_per_minute: 1 };
    const { id } = (await control.ask("/instances", { method: "POST", json })).body.data;
    watch.mockReturnValue(1e6 + 60_000);
    const base = `/i/${id}`;
    for (let times = 0; times < 3; times++)
      expect((await control.ask("/revision", { base })).status).toBe(200);
    expect((await control.ask("/instances")).body.data[0].idle_seconds).toBe(60);
    expect((await control.ask("/state", { base })).status).toBe(200);
    expect((await control.ask("/instances")).body.data[0].idle_seconds).toBe(0);
  });

  test("differs after a restart of the server", async () => {
    const ask = async () => (await (await serve()).ask("/revision")).body.data;
    expect(await ask()).not.toBe(await ask());
  });
});

function timed(minute_window: "fixed" | "sliding"): ScenarioSource {
  return {
    version: 1,
    clock: { now: "2026-03-02T09:00:00Z" },
    assumptions: { minute_window },
    organizations: {
      bank: {
        type: "bank",
        keys: {
          main: { environment: "test" },
          short: { environment: "test", expires: "30m" },
          old: { environment: "test", state: "retiring", replaced_by: "main", overlap_ends: "45m" },
        },
      },
    },
    timeline: [{ at: "20m", organization: { ref: "bank", status: "inactive" } }],
    faults: [{ when: { after: "5m", until: "10m", key: "main" }, then: { status: 503 } }],
  };
}
