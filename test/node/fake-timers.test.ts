import { afterEach, describe, expect, test, vi } from "vitest";
import type { Scenario } from "../../src/index.js";
import { control } from "../support/call-control.js";
import { type Door, doors, mePath } from "../support/doors.js";
import { expressDoor } from "../support/express-door.js";
import { served } from "../support/servers.js";

// Whatever a test runner replaces of the globals: the sandbox's clock moves with it, and nothing waits for it.

afterEach(() => void vi.useRealTimers());

const day = 86_400_000;
const scenario: Scenario = {
  version: 1,
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: { environment: "test", expires: "7d" },
        slow: { environment: "test" },
        revoked: { environment: "test", state: "revoked" },
        limited: { environment: "test", limits: { per_minute: 0, per_day: 0 } },
      },
    },
  },
  timeline: [{ at: "2d", revoke: { key: "slow" } }],
  faults: [{ when: { key: "slow" }, then: { latency: "5ms", slow: 20_000 } }],
};

type Fakes = Parameters<typeof vi.useFakeTimers>[0];

const all = [
  ...(["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate"] as const),
  ...(["clearImmediate", "Date", "performance", "hrtime"] as const),
];
const fakes: readonly (readonly [title: string, fakes: Fakes])[] = [
  ["the defaults", undefined],
  ["the defaults, far from the present", { now: 0 }],
  ["all that Node can do without", { toFake: all }],
];

/** Meets each kind of response while fake timers are there, and lets a week pass. */
async function meetAll(open: Door["open"], config: Fakes): Promise<void> {
  vi.useFakeTimers(config);
  const { sandbox, me } = await open(scenario, { frozen: false });
  const ask = async (ref: string) => (await me({ ref })).status;
  for (let i = 0; i < 2; i++) {
    const responses = [await ask("main"), await ask("revoked"), await ask("limited"), await ask("slow")];
    expect(responses).toEqual([200, 401, 429, 200]);
  }
  vi.advanceTimersByTime(7 * day);
  expect(await ask("main")).toBe(401);
  expect(sandbox.requests.total()).toBe(9);
}

describe.each(fakes)("while fake timers replace %s", (_title, config) => {
  test.each([...doors, expressDoor])(
    "every response arrives, and its time passes ($name)",
    async ({ open }) => {
      await meetAll(open, config);
    },
  );

  test("the control plane is loaded and responds, and the server closes", async () => {
    vi.useFakeTimers(config);
    const server = await served({ scenario });
    expect((await control(server.controlUrl, "GET /nothing")).status).toBe(404);
    expect((await control(server.controlUrl, "POST /reset", {})).status).toBe(200);
    await fetch(server.url + mePath);
    vi.advanceTimersByTime(2 * day);
    const { data } = (await control(server.controlUrl, "GET /requests")).body;
    expect(data).toHaveLength(1);
    await server.close();
  });

  test("a stop cuts off what is still open after its grace", async () => {
    vi.useFakeTimers(config);
    const faults = [{ then: { hang: true as const } }];
    const server = await served({ scenario: { ...scenario, faults } });
    const response = fetch(server.url + mePath).then(
      () => "responded",
      () => "cut off",
    );
    while (server.sandbox.requests.total() === 0) await control(server.controlUrl, "GET /health");
    await server.close(1);
    expect(await response).toBe("cut off");
  });
});

// `fetch`, `Response` and streams of Node never end without these.
test("a server responds without microtasks", async () => {
  const { open } = doors.find(({ name }) => name === "socket") as Door;
  await meetAll(open, { toFake: [...all, "queueMicrotask"] });
});
