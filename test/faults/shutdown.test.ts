import { expect, test } from "vitest";
import type { Fault } from "../../src/index.js";
import { startServer } from "../../src/node/index.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";

test.each<Fault["then"]>([
  { hang: true },
  { latency: "1m" },
  { slow: 1 },
])("a server with requests that meet %j stops within the grace", async (then) => {
  const server = await startServer({ scenario: scenarioWith([{ then }]) });
  const headers = { "x-api-key": server.sandbox.secret("main") };
  const open = Array.from({ length: 20 }, () =>
    fetch(server.url + mePath, { headers }).then((response) => response.text()),
  );
  const ends = Promise.allSettled(open);
  while (server.sandbox.requests.total() < 20) await new Promise((resolve) => setTimeout(resolve, 10));
  await server.close(300);
  expect((await ends).map(({ status }) => status)).toEqual(new Array(20).fill("rejected"));
});

test("an answer that is late by less than the grace still comes when the server stops", async () => {
  const server = await startServer({ scenario: scenarioWith([{ then: { latency: "200ms" } }]) });
  const headers = { "x-api-key": server.sandbox.secret("main") };
  const answer = fetch(server.url + mePath, { headers });
  while (server.sandbox.requests.total() < 1) await new Promise((resolve) => setTimeout(resolve, 10));
  await server.close(5000);
  expect((await answer).status).toBe(200);
});
