import { expect, test } from "vitest";
import { createCounters, mostExamples } from "./counters.js";
import type { RequestNote } from "./journal.js";

const note: RequestNote = {
  number: 1,
  at: 0,
  method: "GET",
  path: "/v1/relying-party/me",
  key: undefined,
  unknownKey: "0123456789ab",
  status: 401,
  code: "unauthorized",
  pathId: "401.unknown",
  fault: null,
  advice: [],
  durationMs: 0,
};
const idOf = (number: number) => `req_${number}`;

test("a request that a fault let wait counts for its path and for the fault, any other once", () => {
  const counters = createCounters();
  counters.count({ ...note, fault: "fault.latency" }, idOf);
  counters.count({ ...note, pathId: "fault.status", fault: "fault.status" }, idOf);
  const { requests, paths } = counters.read();
  expect([requests, paths["401.unknown"], paths["fault.latency"], paths["fault.status"]]).toEqual([
    2, 1, 1, 1,
  ]);
});

test("the first requests that earned an advice are its examples", () => {
  const counters = createCounters();
  for (let number = 1; number <= 7; number++) {
    counters.count({ ...note, number, advice: ["same-key-after-401"] }, idOf);
  }
  const { count, examples } = counters.read().advice["same-key-after-401"];
  expect(count).toBe(7);
  expect(examples.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5].map(idOf));
  expect(examples).toHaveLength(mostExamples);
  expect(examples[0]).toEqual({
    id: "req_1",
    at: 0,
    method: "GET",
    path: note.path,
    key: null,
    fingerprint: note.unknownKey,
  });
});

test("what is passed on is counted there too, and stays when the first one starts anew", () => {
  const [instance, server] = [createCounters(), createCounters()];
  instance.passOnTo(server);
  instance.count({ ...note, advice: ["key-in-query"] }, idOf);
  instance.clear();
  expect(instance.read()).toEqual(createCounters().read());
  expect(server.read()).toMatchObject({ requests: 1, paths: { "401.unknown": 1 } });
  expect(server.read().advice["key-in-query"].count).toBe(1);
});
