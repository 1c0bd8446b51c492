import { connect } from "node:net";
import { expect, test } from "vitest";
import { createSandbox, type Fault } from "../../src/index.js";
import { faultKinds, faultKindTable } from "../../src/rules/fault-effects.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";
import { requested } from "../support/requested.js";
import { served } from "../support/servers.js";

// Each row of the table, as both adapters deliver it: a new kind is here without a line.

const values = { latency: "40ms", rate: 2000, status: 503, flag: true } as const;
const faultOf = (kind: keyof typeof faultKindTable, more: Fault["then"] = {}): Fault["then"] => ({
  ...{ [kind]: values[faultKindTable[kind].valueKind] },
  ...more,
});
const scenarioOf = (then: Fault["then"]) => scenarioWith([{ when: { key: "main" }, then }]);

/** How a response ends for a client, which gives up only if nothing is meant to come. */
async function endOf(kind: keyof typeof faultKindTable, send: (init: RequestInit) => Promise<Response>) {
  const isHang = faultKindTable[kind].ends === "hang";
  try {
    const response = await send(isHang ? { signal: AbortSignal.timeout(100) } : {});
    return await response.text().then(
      () => "sent",
      () => "cut",
    );
  } catch (error) {
    return (error as Error).name === "TimeoutError" ? "hang" : "reset";
  }
}

test.each(faultKinds)(
  "%s ends as its row says on a socket and through fetch, and counts only if it only delays",
  async (kind) => {
    const { ends, onlyDelays, valueKind } = faultKindTable[kind];
    const scenario = scenarioOf(faultOf(kind));
    const server = await served({ scenario });
    const alone = createSandbox({ scenario });
    const entries = [
      { sandbox: server.sandbox, send: (init: RequestInit) => fetch(server.url + mePath, init) },
      { sandbox: alone, send: (init: RequestInit) => alone.fetch(`http://any.test${mePath}`, init) },
    ];
    for (const { sandbox, send } of entries) {
      const headers = { "x-api-key": sandbox.secret("main") };
      expect(await endOf(kind, (init) => send({ ...init, headers }))).toBe(ends);
      expect(sandbox.keys.get("main").usage.today).toBe(onlyDelays ? 1 : 0);
      const [request] = sandbox.requests.list();
      expect(request).toMatchObject({ fault: `fault.${kind}` });
      expect(request?.durationMs).toBeGreaterThanOrEqual(valueKind === "latency" ? 40 : 0);
    }
  },
);

test.each(faultKinds)("of %s, a response that is whole is unread if its client gives up", async (kind) => {
  const { ends, combinesWith, valueKind } = faultKindTable[kind];
  const later = { latency: "1m", rate: 1 }[valueKind as string] ?? values[valueKind];
  const canBeLate = (combinesWith as readonly string[]).includes("latency");
  const late = { [kind]: later, ...(canBeLate && { latency: "1m" as const }) };
  const server = await served({ scenario: scenarioOf(faultOf(kind, late)) });
  const client = connect(Number(new URL(server.url).port), "127.0.0.1", () =>
    client.write(`GET ${mePath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${server.sandbox.secret("main")}\r\n\r\n`),
  );
  await requested(server.sandbox);
  client.destroy();
  const isUnread = () => server.sandbox.requests.list()[0]?.unread === true;
  if (ends === "sent") return expect.poll(isUnread).toBe(true);
  // The server has seen the end of the connection before it stops.
  await server.close();
  expect(isUnread()).toBe(false);
});
