import { afterEach, beforeEach, expect, test, vi } from "vitest";

// The pages of other tests are in a browser; this one is about the order of calls, over a slow network.
const latency = 400;
const pause = 1000;
let revision = "1";
let readings = 0;
const asked: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  vi.stubGlobal("document", Object.assign(new EventTarget(), { baseURI: "http://127.0.0.1/__sandbox/" }));
  const windowEvents = new EventTarget();
  vi.stubGlobal("addEventListener", windowEvents.addEventListener.bind(windowEvents));
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  [revision, readings, asked.length] = ["1", 0, 0];
  vi.stubGlobal("fetch", async ({ pathname }: URL, { method }: RequestInit) => {
    const path = pathname.replace("/__sandbox", "");
    asked.push(`${method} ${path}`);
    if (method === "POST") revision += "1";
    if (path === "/faults") readings += 1;
    const data = path === "/revision" ? revision : readings;
    await new Promise((resolve) => setTimeout(resolve, latency));
    return Response.json({ data });
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** What a component shows of a path, once it was read. */
async function followed() {
  const { follow, keepUpToDate } = await import("../../src/dashboard/control/data.js");
  const { call } = await import("../../src/dashboard/control/call.js");
  let faults: unknown;
  const stop = follow("/faults", ({ data }) => {
    faults = data;
  });
  keepUpToDate();
  await vi.advanceTimersByTimeAsync(2 * latency);
  // The page always follows the clock.
  expect([faults, asked]).toEqual([1, ["GET /revision", "GET /clock", "GET /faults"]]);
  asked.length = 0;
  return { faults: () => faults, stop, call, follow };
}

test("the page reads again what it shows once the revision differs, and nothing before", async () => {
  const { faults, stop } = await followed();
  await vi.advanceTimersByTimeAsync(5 * (pause + latency));
  expect(faults()).toBe(1);
  revision = "2";
  await vi.advanceTimersByTimeAsync(pause + 2 * latency);
  expect(faults()).toBe(2);
  stop();
  revision = "3";
  await vi.advanceTimersByTimeAsync(5 * (pause + latency));
  expect(readings).toBe(2);
});

test("after a change, the page reads each path once, and what it shows later immediately", async () => {
  const { follow } = await followed();
  follow("/health", () => {});
  follow("/upcoming", () => {});
  await vi.advanceTimersByTimeAsync(3 * latency);
  expect(asked.filter((call) => call !== "GET /revision")).toEqual(["GET /health", "GET /upcoming"]);
  revision = "2";
  asked.length = 0;
  await vi.advanceTimersByTimeAsync(2 * pause + 2 * latency);
  const readAgain = ["GET /clock", "GET /faults", "GET /health", "GET /upcoming"];
  expect(asked.filter((call) => call !== "GET /revision")).toEqual(readAgain);
});

test("what is shown later does not hide a change of the rest", async () => {
  const { follow, faults } = await followed();
  revision = "2";
  follow("/health", () => {});
  await vi.advanceTimersByTimeAsync(4 * latency);
  expect(faults()).toBe(2);
});

test("the page looks for news immediately after its own change, also after one during a reading", async () => {
  const { faults, stop, call } = await followed();
  revision = "2";
  await vi.advanceTimersByTimeAsync(pause + latency / 2);
  // The reading is under way.
  asked.length = 0;
  void call("/keys/active/revoke", { method: "POST" });
  await vi.advanceTimersByTimeAsync(4 * latency);
  expect(asked).toContain("POST /keys/active/revoke");
  expect(faults()).toBe(3);
  stop();
});

test("a response that breaks off is as a missing response", async () => {
  vi.stubGlobal("fetch", async () => {
    const broken = new ReadableStream({
      start: (controller) => controller.error(new TypeError("terminated")),
    });
    return new Response(broken, { headers: { "Content-Type": "application/json" } });
  });
  const { call } = await import("../../src/dashboard/control/call.js");
  await expect(call("/faults")).rejects.toMatchObject({ code: "unreachable" });
});
