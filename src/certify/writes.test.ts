import { expect, test } from "vitest";
import { loanRecords, loans, sandboxOf } from "../../test/records/sandbox.js";
import { endpointsOf } from "../api/routes.js";
import { stateOf } from "../library/create-sandbox.js";
import { collectWrites, createdTwice, judgedPaths } from "./evidence.js";

/** Sends requests to loans, and returns what they show about writes. */
async function writesOf(...requests: readonly [request: string, headers?: Record<string, string>][]) {
  const { sandbox, ask } = sandboxOf({ openapi: loans, records: loanRecords });
  const state = stateOf(sandbox);
  const writes = collectWrites(endpointsOf(state));
  state.history.subscribe((event) => {
    if (event.type === "request") writes.add(event.exchange);
  });
  const { id } = sandbox.records.add("loans", { amount: 1 });
  for (const [request, headers] of requests) {
    const body = /^P/.test(request) && !request.endsWith("approve") ? { amount: 2 } : undefined;
    await ask(request.replace("ID", id), { body, headers: headers ?? {} }).catch(() => {});
  }
  return { writes, endpoints: endpointsOf(state) };
}

const key = { "Idempotency-Key": "one" };

test("POST and PATCH must not be repeated, unless the endpoint honors an Idempotency-Key", async () => {
  const { writes } = await writesOf(
    ["GET /loans/ID"],
    ["POST /loans", key],
    ["PATCH /loans/ID", key],
    ["POST /loans/ID/approve"],
    ["DELETE /loans/ID"],
  );
  expect([...writes.once]).toEqual(["200.changeLoan", "200.approveLoan"]);
  const paths = ["200.test", ...writes.once] as const;
  expect(judgedPaths(paths, "fault.truncate", writes)).toEqual(["200.test"]);
  expect(judgedPaths(paths, "fault.latency", writes)).toEqual(paths);
});

test("each record counts once, also if its response is repeated for the same Idempotency-Key", async () => {
  const { writes: usual, endpoints } = await writesOf(["POST /loans", key]);
  const { writes: same } = await writesOf(["POST /loans", key], ["POST /loans", key]);
  const { writes: twice } = await writesOf(["POST /loans"], ["POST /loans"]);
  expect(createdTwice(usual, same, endpoints)).toBeUndefined();
  expect(createdTwice(usual, twice, endpoints)).toBe("201.createLoan");
});
