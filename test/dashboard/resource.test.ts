import { afterEach, beforeEach, expect, test, vi } from "vitest";

const latency = 400;
let readings = 0;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1:4747/__sandbox/" });
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  readings = 0;
  vi.stubGlobal("fetch", async (_: URL, { method }: RequestInit) => {
    await new Promise((resolve) => setTimeout(resolve, latency));
    if (method === "GET") readings += 1;
    return Response.json({ data: readings });
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A resource that has been read once, over a slow network. */
async function followed() {
  const { resource } = await import("../../src/dashboard/control/resource.js");
  const control = await import("../../src/dashboard/control/call.js");
  const notifyOfTime = () => control.notify([{ type: "time.passed", data: {} }]);
  const one = resource<number>("/keys", { on: ["time."] });
  const stop = one.follow();
  await vi.advanceTimersByTimeAsync(1000 + latency);
  expect(one.data.value).toBe(1);
  return { ...control, one, stop, notifyOfTime };
}

test("the page reads again at most a second after an event, however slow the last reading was", async () => {
  const { one, stop, notifyOfTime } = await followed();
  notifyOfTime();
  await vi.advanceTimersByTimeAsync(1000 + latency);
  expect(one.data.value).toBe(2);
  // Many events in a second cause one reading.
  for (let event = 0; event < 9; event++) notifyOfTime();
  await vi.advanceTimersByTimeAsync(1000 + latency);
  expect(one.data.value).toBe(3);
  stop();
});

test("the page reads immediately after its own change, also after a reading that started before it", async () => {
  const { one, stop, call, notifyOfTime } = await followed();
  await Promise.all([call("/keys/active/revoke", { method: "POST" }), vi.advanceTimersByTimeAsync(latency)]);
  await vi.advanceTimersByTimeAsync(latency);
  expect(one.data.value).toBe(2);
  notifyOfTime();
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all([call("/keys/live/revoke", { method: "POST" }), vi.advanceTimersByTimeAsync(latency)]);
  await vi.advanceTimersByTimeAsync(latency);
  expect(one.data.value).toBe(4);
  stop();
});
