import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ScenarioSource } from "../../src/index.js";
import { nodePlatform } from "../../src/node/platform.js";
import { frozenKeyStates } from "../support/faulty.js";
import { type ServedControl, serveControl } from "./client.js";
import { acceptedWrites } from "./writes.js";

const mePath = "/v1/relying-party/me";
const scenario = frozenKeyStates({ story: [{ say: "Hello." }] });

const serve = (options = {}) => serveControl({ scenario, ...options });

/** Returns whether the revision differs after something happened. */
async function differsAfter({ ask }: ServedControl, act: () => unknown): Promise<boolean> {
  const revision = async () => (await ask("/revision")).body.data as string;
  const before = await revision();
  // Asking changes nothing.
  expect(await revision()).toBe(before);
  await act();
  return (await revision()) !== before;
}

/** A wall clock that only the test moves. */
function stoppedTime() {
  let now = 1e6;
  const spy = vi.spyOn(nodePlatform, "time").mockImplementation(() => now);
  onTestFinished(() => void spy.mockRestore());
  return {
    pass(milliseconds: number): void {
      now += milliseconds;
    },
  };
}

const changeNothing = ["/stop", "/scenario/validate", "/keys/active/secret"];
const changes = acceptedWrites
  .filter(({ path }) => !changeNothing.includes(path))
  .map((write) => [`${write.method} ${write.path}${write.bytes ? " (YAML)" : ""}`, write] as const);

describe("the revision", () => {
  test.each(changes)("differs after %s", async (_name, { path, ...call }) => {
    const control = await serve();
    const change = async () => expect((await control.ask(path, call)).status).toBeLessThan(300);
    expect(await differsAfter(control, change)).toBe(true);
  });

  test("differs after a request of a client, and after a client has given up", async () => {
    const faults = [{ when: { key: "active" }, then: { latency: "1m" } }];
    const control = await serve({ scenario: { ...scenario, faults } });
    const { url, sandbox } = control.server;
    expect(await differsAfter(control, () => fetch(url + mePath))).toBe(true);
    const giveUp = new AbortController();
    const headers = { "x-api-key": sandbox.secret("active") };
    const waiting = fetch(url + mePath, { headers, signal: giveUp.signal });
    const requests = async () => (await control.ask("/requests")).body.data;
    await expect.poll(async () => (await requests()).length).toBe(2);
    const isUnread = async () => (await requests()).at(-1).unread;
    const end = async () => {
      giveUp.abort();
      await expect(waiting).rejects.toThrow();
      await expect.poll(isUnread).toBe(true);
    };
    expect(await differsAfter(control, end)).toBe(true);
  });

  test.each([
    ["a key expires", "30m"],
    ["an overlap ends", "45m"],
    ["a fault starts", "5m"],
    ["a fault ends", "10m"],
    ["a step of the timeline is due", "20m"],
    ["the limits per minute reset", "1m"],
  ] as const)("differs once %s, and time alone makes no difference", async (_event, at) => {
    const time = stoppedTime();
    const control = await serveControl({ frozen: false, scenario: timed });
    const { ask, server } = control;
    time.pass(10_000);
    await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret("main") } });
    const due = 60_000 * Number.parseInt(at, 10);
    time.pass(due - 10_001);
    // What was due before has happened.
    await ask("/state");
    expect(await differsAfter(control, () => time.pass(0.5))).toBe(false);
    expect(await differsAfter(control, () => time.pass(1))).toBe(true);
  });

  test("differs after a restart of the server", async () => {
    const ask = async () => (await (await serve()).ask("/revision")).body.data;
    expect(await ask()).not.toBe(await ask());
  });
});

const timed: ScenarioSource = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z" },
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
