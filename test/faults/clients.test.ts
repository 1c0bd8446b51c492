import got from "got";
import ky from "ky";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSandbox, type Fault, type Sandbox, type Scenario } from "../../src/index.js";
import { startServer } from "../../src/serve/index.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";

// Clients of other people, each with the retries that it brings along: they recover where every other request fails.

interface Client {
  readonly sandbox: Sandbox;
  /** Resolves with what the client got in the end; rejects when it gave up. */
  readonly ask: () => Promise<{ data: { usage: { today: number } } }>;
}

const clients: Readonly<Record<string, (scenario: Scenario) => Promise<Client>>> = {
  "got over a socket": async (scenario) => {
    const { sandbox, url, close } = await startServer({ scenario });
    onTestFinished(() => close(0));
    const retry = { limit: 2, calculateDelay: ({ attemptCount = 0 }) => (attemptCount > 2 ? 0 : 10) };
    const headers = { "x-api-key": sandbox.secret("main") };
    return { sandbox, ask: () => got(url + mePath, { headers, timeout: { request: 600 }, retry }).json() };
  },
  "ky over sandbox.fetch": async (scenario) => {
    const sandbox: Sandbox = createSandbox({ scenario });
    const retry = { limit: 2, delay: () => 10, retryOnTimeout: true };
    const headers = { "x-api-key": sandbox.secret("main") };
    const options = { headers, fetch: sandbox.fetch as typeof fetch, timeout: 600, retry };
    return { sandbox, ask: () => ky(`https://api.example${mePath}`, options).json() };
  },
};

const troubles: readonly Fault["then"][] = [
  { status: 503 },
  { status: 502, body: "html" },
  { status: 504, latency: "50ms" },
  { reset: true },
  { hang: true },
  { latency: "1h" },
];

describe.each(Object.entries(clients))("%s", (_name, open) => {
  test.each(troubles)("recovers when every other request meets %j", async (then) => {
    const when = { key: "main", requests: [1, 3, 5] };
    const { sandbox, ask } = await open(scenarioWith([{ when, then }]));
    for (let i = 1; i <= 3; i++) expect((await ask()).data.usage.today).toBeGreaterThanOrEqual(i);
    // A busy machine may make a client give up on an answer that was on its way.
    expect(sandbox.requests.total()).toBeGreaterThanOrEqual(6);
  });

  test("gives up when every request fails, and the failures have counted nothing", async () => {
    const { sandbox, ask } = await open(scenarioWith([{ then: { status: 503 } }]));
    const answer = await ask().catch((error) => error);
    expect(answer instanceof Error || "error" in answer).toBe(true);
    expect(sandbox.requests.total()).toBeGreaterThan(1);
    expect(sandbox.keys.get("main").usage.today).toBe(0);
  });
});
