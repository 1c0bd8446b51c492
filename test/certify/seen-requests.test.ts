import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { readApiRequest } from "../../src/api/read-request.js";
import { SeenRequests } from "../../src/certify/client-runs/seen-requests.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import type { RunConditions, RunTrace } from "../../src/runs/conditions.js";
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
    countUnread() {},
    count(exchange, trace?: RunTrace) {
      number += 1;
      requests.count(exchange, trace && { ...trace, ...change(number) });
    },
  });
  for (const key of keys) handle(sandbox, asked({ method, apiKey: secretToSend(sandbox, key) }));
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

test("a request of another process is another request, although ids repeat in each", () => {
  const requests = new SeenRequests(() => 0);
  for (const _process of [1, 2]) {
    const sandbox = startFrozen("key-states", { run: conditionedRun({}) });
    sandbox.counters.alsoCountWith(requests);
    handle(sandbox, asked({ apiKey: secretToSend(sandbox, "active") }));
  }
  const sent = requests
    .facts()
    .sentKeys.map(({ requests: ofKey }) => ofKey.map(({ id, nth }) => ({ id, nth })));
  const [first] = sent[0] ?? [];
  expect(sent).toEqual([[first, { id: first?.id, nth: 2 }]]);
});

test("a fault may hit a GET whose response has a body, and no HEAD", () => {
  const canTakeFault = (method: string) =>
    seen(["active"], {}, { method }).sentKeys.flatMap(({ requests }) =>
      requests.map((one) => one.canTakeFault),
    );
  expect(canTakeFault("GET")).toEqual([true]);
  expect(canTakeFault("HEAD")).toEqual([false]);
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
