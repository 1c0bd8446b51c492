import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { collect } from "../support/collect.js";
import { scenarioWith } from "../support/faulty.js";

const url = "https://any.example/v1/relying-party";
const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;

test.each([{ latency: "1h" }, { hang: true }, { slow: 1 }] as const)(
  "a client that gives up on %j gets its reason, and leaves no timer and no listener",
  async (then) => {
    const before = timers();
    const sandbox = createSandbox({ scenario: scenarioWith([{ then }]) });
    const leaving = new AbortController();
    const headers = { "x-api-key": sandbox.secret("main") };
    const sent = sandbox
      .fetch(`${url}/me`, { headers, signal: leaving.signal })
      .then((response) => response.text());
    while (timers() === before) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(new Error("enough"));
    await expect(sent).rejects.toThrow("enough");
    expect(timers()).toBe(before);
    await expect(sandbox.fetch(`${url}/me`, { signal: leaving.signal })).rejects.toThrow("enough");
  },
);

test("a late response leaves no listener on the signal of its request", async () => {
  const sandbox = createSandbox({ scenario: scenarioWith([{ then: { latency: "1ms" } }]) });
  const request = new Request(`${url}/me`, { headers: { "x-api-key": sandbox.secret("main") } });
  expect((await sandbox.fetch(request)).status).toBe(200);
  expect(getEventListeners(request.signal, "abort")).toEqual([]);
});

test("a body that is read after its client has given up ends with the client's reason", async () => {
  const sandbox = createSandbox({ scenario: scenarioWith([{ then: { slow: 100_000 } }]) });
  const leaving = new AbortController();
  const headers = { "x-api-key": sandbox.secret("main") };
  const response = await sandbox.fetch(`${url}/me`, { headers, signal: leaving.signal });
  leaving.abort(new Error("enough"));
  await expect(response.text()).rejects.toThrow("enough");
});

test("a sandbox keeps no request after its late response", async () => {
  const sandbox = createSandbox({ scenario: scenarioWith([{ then: { latency: "1ms" } }]) });
  const send = async () => {
    const request = new Request(`${url}/me`, { headers: { "x-api-key": sandbox.secret("main") } });
    expect((await sandbox.fetch(request)).status).toBe(200);
    return new WeakRef(request);
  };
  const sent = await send();
  // A reference that was just made keeps its object until this turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(sent.deref()).toBeUndefined();
});
