import got from "got";
import ky from "ky";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSandbox, type Fault, type Sandbox, type Scenario } from "../../src/index.js";
import { startServer } from "../../src/node/index.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";

// Clients of other people, each with the retries that it brings along: they recover where every other request fails.

interface Asked {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the client got in the end; rejects when it gave up. */
type Client = (asked: Asked) => Promise<{ data: { usage: { today: number } } }>;

const gotClient: Client = ({ url, headers }) =>
  got(url, {
    headers,
    timeout: { request: 600 },
    retry: { limit: 2, calculateDelay: ({ attemptCount }) => (attemptCount > 2 ? 0 : 10) },
  }).json();

const kyOver =
  (fetch: typeof globalThis.fetch): Client =>
  ({ url, headers }) =>
    ky(url, {
      headers,
      fetch,
      timeout: 600,
      retry: { limit: 2, delay: () => 10, retryOnTimeout: true },
    }).json();

const everyOther = (then: Fault["then"]) =>
  scenarioWith([{ when: { key: "main", requests: [1, 3, 5] }, then }]);

interface Reached {
  readonly sandbox: Sandbox;
  readonly url: string;
  readonly client: Client;
}

/** Each client, over the entry point that it uses. */
const ways: Readonly<Record<string, (scenario: Scenario) => Promise<Reached>>> = {
  "got over a socket": async (scenario) => {
    const { sandbox, url, close } = await startServer({ scenario });
    onTestFinished(() => close(0));
    return { sandbox, url, client: gotClient };
  },
  "ky over sandbox.fetch": async (scenario) => {
    const sandbox = createSandbox({ scenario });
    return { sandbox, url: "https://api.example", client: kyOver(sandbox.fetch as typeof fetch) };
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

describe.each(Object.entries(ways))("%s", (_name, open) => {
  test.each(troubles)("recovers when every other request meets %j", async (then) => {
    const { sandbox, url, client } = await open(everyOther(then));
    const headers = { "x-api-key": sandbox.secret("main") };
    for (let i = 1; i <= 3; i++) {
      const { data } = await client({ url: url + mePath, headers });
      expect(data.usage.today).toBeGreaterThanOrEqual(i);
    }
    // A busy machine may make a client give up on an answer that was on its way.
    expect(sandbox.requests.total()).toBeGreaterThanOrEqual(6);
  });

  test("gives up when every request fails, and the failures have counted nothing", async () => {
    const { sandbox, url, client } = await open(scenarioWith([{ then: { status: 503 } }]));
    const headers = { "x-api-key": sandbox.secret("main") };
    const answer = await client({ url: url + mePath, headers }).catch((error) => error);
    expect(answer instanceof Error || "error" in answer).toBe(true);
    expect(sandbox.requests.total()).toBeGreaterThan(1);
    expect(sandbox.keys.get("main").usage.today).toBe(0);
  });
});
