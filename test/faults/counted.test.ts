import { describe, expect, test } from "vitest";
import type { Fault } from "../../src/index.js";
import { control } from "../support/call-control.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";
import { requested } from "../support/requested.js";
import { served } from "../support/servers.js";

/** How a client handles the response to the first request, which a fault hits. */
type Care = "gives up waiting" | "reads it to the end" | "looks at the status";

const anyWay: readonly Care[] = ["reads it to the end", "looks at the status"];
const faults: readonly { readonly then: Fault["then"]; readonly cares: readonly Care[] }[] = [
  { then: { latency: "1ms" }, cares: anyWay },
  { then: { latency: "1h" }, cares: ["gives up waiting"] },
  { then: { status: 503 }, cares: anyWay },
  { then: { reset: true }, cares: anyWay },
  { then: { hang: true }, cares: ["gives up waiting"] },
  { then: { truncate: true }, cares: anyWay },
  { then: { malformed: true }, cares: ["reads it to the end"] },
  { then: { slow: 1 }, cares: ["gives up waiting"] },
  { then: { slow: 100_000 }, cares: anyWay },
];

/** Opens a server whose first request with the revoked key gets the fault; `ask` sends it again after the fault. */
async function open(then: Fault["then"], care: Care) {
  const when = { key: "revoked", requests: [1] };
  const { sandbox, url, controlUrl } = await served({ scenario: scenarioWith([{ when, then }]) });
  const headers = { "x-api-key": sandbox.secret("revoked") };
  const send = async (signal?: AbortSignal) => {
    const response = await fetch(url + mePath, { headers, signal: signal ?? null });
    if (care !== "looks at the status") await response.json();
    if (response.status >= 500) throw new Error("an outage");
    return response.status;
  };
  const first = async () => {
    if (care !== "gives up waiting") return send();
    const timeout = new AbortController();
    const sent = send(timeout.signal);
    requested(sandbox).then(() => timeout.abort());
    return sent;
  };
  return {
    send,
    ask: () => first().catch(() => send()),
    expected: async (query: string) => (await control(controlUrl, `GET /expect?${query}`)).status,
    sandbox,
    counted: async (query: string) => (await control(controlUrl, `GET /requests?${query}`)).body.data.length,
  };
}

test("a request that a fault delayed counts once with the one that the client sends after it", async () => {
  const { sandbox, url, controlUrl } = await served({
    scenario: scenarioWith([{ then: { latency: "1ms" } }]),
  });
  for (const ref of ["main", "main", "revoked", "revoked"]) {
    await (await fetch(url + mePath, { headers: { "x-api-key": sandbox.secret(ref) } })).text();
  }
  const { body } = await control(controlUrl, "GET /requests?faults=false");
  expect(body.data.map(({ key }: { key: string }) => key)).toEqual(["main", "revoked"]);
});

describe.each(faults)("a request that $then hits", ({ then, cares }) => {
  test.each(cares)("counts once with the request that the client sends instead: it %s", async (care) => {
    const { ask, counted } = await open(then, care);
    expect(await ask()).toBe(401);
    expect(await counted("key=revoked&faults=false")).toBe(1);
  });
});

test("expect counts a request and those that repeat it after faults once, if it is asked to", async () => {
  const { ask, expected, sandbox } = await open({ status: 503 }, "reads it to the end");
  await ask();
  expect(await expected("key=revoked&count=1&faults=false")).toBe(200);
  expect(await expected("key=revoked&count=1")).toBe(409);
  expect(sandbox.requests.list({ key: "revoked", faults: false })).toHaveLength(1);
});

test("a request that the client resends after its rejection counts, also if a fault hit it", async () => {
  const { ask, send, counted } = await open({ status: 503 }, "reads it to the end");
  await ask();
  await send();
  expect(await counted("key=revoked&faults=false")).toBe(2);
});
