import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { SeenRequests } from "../../src/certify/client-runs/seen-requests.js";
import { readApiRequest } from "../../src/rules/read-request.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import type { RunConditions } from "../../src/runs/conditions.js";
import type { RunTrace } from "../../src/runs/run-trace.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { startFrozen } from "../support/doors.js";
import { asked, mePath } from "../support/send.js";

interface Sent {
  readonly method?: string;
  readonly seed?: number;
  /** What to change of the trace of each request, by its number from 1. */
  readonly change?: (number: number) => Partial<RunTrace>;
}

/** What is seen of requests with these keys. */
function seen(keys: readonly string[], conditions: RunConditions = {}, sent: Sent = {}) {
  const { method = "GET", seed = 1, change = () => ({}) } = sent;
  const sandbox = startFrozen("key-states", { run: conditionedRun(conditions), seed });
  const requests = new SeenRequests(() => 0);
  let number = 0;
  sandbox.counters.alsoCountWith({
    countUnread: (id) => requests.countUnread(id),
    count(exchange, trace?: RunTrace) {
      number += 1;
      requests.count(exchange, trace && { ...trace, ...change(number) });
    },
  });
  for (const key of keys) handle(sandbox, asked({ method, apiKey: secretToSend(sandbox, key) }));
  return requests.facts();
}

/** What is seen of a request whose response has these headers besides its own. */
function seenOf(headers: Readonly<Record<string, string>>) {
  const sandbox = startFrozen("key-states", { run: conditionedRun({}) });
  const requests = new SeenRequests(() => 0);
  sandbox.counters.alsoCountWith({
    countUnread() {},
    count(exchange, trace?: RunTrace) {
      const { response } = exchange;
      const changed = { ...response, headers: [...response.headers, ...Object.entries(headers).flat()] };
      requests.count({ ...exchange, response: changed }, trace);
    },
  });
  handle(sandbox, asked({ apiKey: secretToSend(sandbox, "active") }));
  return requests.facts();
}

test("the first seed that the client's code sets is named, whatever later sandboxes have", () => {
  const { ownSeed } = seen(
    ["active", "active", "active"],
    {},
    { change: (number) => ({ ownSeed: [7, 9][number - 1] }) },
  );
  expect(ownSeed).toBe(7);
});

test("a fault may hit a GET whose response has a body, and no HEAD", () => {
  const canTakeFault = (method: string) =>
    seen(["active"], {}, { method }).sentKeys.flatMap(({ requests }) =>
      requests.map((one) => one.canTakeFault),
    );
  expect(canTakeFault("GET")).toEqual([true]);
  expect(canTakeFault("HEAD")).toEqual([false]);
});

test("a Retry-After that is neither a number nor a date asks for no wait", () => {
  const { lastAskedWait } = seenOf({ "Retry-After": "soon" });
  expect(lastAskedWait).toBeUndefined();
  expect(seenOf({ "Retry-After": "7" }).lastAskedWait?.seconds).toBe(7);
});

test("of the last response that asks to wait, the seconds are kept, also if it has a date and other requests follow", () => {
  const waits: number[] = [];
  for (const seed of [1, 2, 3]) {
    const conditions = { profile: "varied", rows: [{ row: "retry_after" }] } as const;
    const { lastRequest, lastAskedWait } = seen(["rate-limited", "active"], conditions, { seed });
    expect(lastRequest?.outcome).toBe("200.test");
    if (lastAskedWait === undefined) continue;
    expect(lastAskedWait.outcome).toBe("429.per_day");
    waits.push(lastAskedWait.seconds);
  }
  const [first = 0, second = 0] = waits;
  expect(waits).toHaveLength(2);
  expect(first).toBeGreaterThan(60);
  expect(Math.abs(first - second)).toBeLessThanOrEqual(1);
});

test("the headers with a key are seen, also in an encoded form, and no key is", () => {
  const sandbox = startFrozen("key-states", { run: conditionedRun({}) });
  const requests = new SeenRequests(() => 0);
  sandbox.counters.alsoCountWith(requests);
  const key = secretToSend(sandbox, "active");
  const headers = ["authorization", `Basic ${btoa(`${key}:`)}`, "x-key", String(key), "accept", "*/*"];
  handle(sandbox, readApiRequest({ method: "GET", path: mePath, query: "", headers }));
  const { headersWithKey } = requests.facts();
  expect(headersWithKey).toEqual(["authorization", "x-key"]);
});
