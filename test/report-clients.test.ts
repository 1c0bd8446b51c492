import { expect, onTestFinished, test } from "vitest";
import { handle } from "../src/api/handle.js";
import { adviceIds } from "../src/domain/advice.js";
import { createSandbox } from "../src/library/create-sandbox.js";
import { runtimeOf } from "../src/library/current-sandbox.js";
import { startServer } from "../src/node/index.js";
import { reportOf } from "../src/report/build-report.js";
import { scenarioSecret } from "../src/sandbox/secrets.js";
import type { World } from "../src/sandbox/world.js";
import { bundledScenarios } from "../src/scenario/bundled.js";
import { badClients } from "./support/bad-clients.js";
import { describeDoors, mePath, openTestWorld } from "./support/doors.js";
import { goodClients } from "./support/good-clients.js";
import { referenceClient } from "./support/reference-client.js";
import { sendOnSocket } from "./support/send-on-socket.js";

const reportFor = (world: World) => reportOf({ world: () => world, counters: world.counters });

/** The advice that a report has, and how often. */
const earned = (world: World) =>
  Object.fromEntries(reportFor(world).advice.map(({ id, count }) => [id, count]));

test("each advice has a client that earns it", () => {
  expect(adviceIds.filter((id) => !badClients.some(({ earns }) => id in earns))).toEqual([]);
});

describeDoors("the report of a client", (open) => {
  test("that keeps to the contract: it has met everything, and there are notes at most", async () => {
    const door = await open("key-states");
    onTestFinished(door.close);
    await referenceClient(door);
    const report = reportFor(door.world);
    expect(report.coverage).toEqual({ percent: 100, met: 17, promised: 17 });
    expect(report.requests).toBe(17);
    expect(report.advice.map(({ id, level }) => [id, level])).toEqual([
      ["retiring-key-in-use", "note"],
      ["legacy-key-in-use", "note"],
    ]);
  });

  test.each(
    [...badClients, ...goodClients].map((one) => [one.does, one] as const),
  )("that %s", async (_does, one) => {
    const door = await open(one.scenario ?? "key-states");
    onTestFinished(door.close);
    await one.run(door);
    expect(earned(door.world)).toEqual(one.earns);
    const journaled = door.world.journal.list().flatMap(({ advice }) => advice);
    expect(journaled.sort()).toEqual(
      Object.entries(one.earns)
        .flatMap(([id, count]) => Array(count).fill(id))
        .sort(),
    );
  });
});

// Fetch forbids it, and the one that msw puts in its place leaves the body out.
test("the report of a client that sends GET with a body", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const send = sendOnSocket(Number(new URL(server.url).port));
  await send({ body: "{}", headers: { "x-api-key": server.sandbox.secret("active") } });
  expect(server.sandbox.requests.list()[0]?.advice).toEqual(["query-or-body-sent"]);
});

test("an answer that a fault lets wait is known to the client only when it has come", () => {
  const world = openTestWorld({
    ...bundledScenarios["key-states"],
    faults: [{ when: { requests: [1, 3] }, then: { latency: "10s" } }],
  });
  const send = (ref: string) => {
    handle(world, { method: "GET", path: mePath, apiKey: scenarioSecret(world, ref) });
    return world.journal.list({ limit: 1 })[0]?.advice;
  };
  // The client gave up waiting before it heard of the 401, and asks again.
  expect([send("revoked"), send("revoked"), send("revoked")]).toEqual([[], [], ["same-key-after-401"]]);
});

test("what a client has done to one world is not held against it in the next", () => {
  const sandbox = createSandbox({ frozen: true });
  const send = () => {
    const world = runtimeOf(sandbox).world();
    handle(world, { method: "GET", path: mePath, apiKey: sandbox.secret("revoked") });
  };
  send();
  sandbox.reset();
  send();
  expect(sandbox.report().advice).toEqual([]);
  expect(sandbox.report().requests).toBe(2);
});
