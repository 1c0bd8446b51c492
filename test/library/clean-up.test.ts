import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
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
