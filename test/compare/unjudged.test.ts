import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { renderComparison } from "../../src/compare/report.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { type Presented, probed, probeKeys, type Reply, setIn } from "../support/probed-server.js";

// R14: an outcome agrees only if its 401 was compared with the others at each place.

type Change = (reply: Reply, presented: Presented) => void;

async function compare(change: Change) {
  const { send } = probed((reply, presented) => {
    if (reply.status === 401) change(reply, presented);
  });
  const result = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys, probeLimits: false },
    ...{ unknownKey: unknownSecret, random: () => 0 },
  });
  const rejected = result.outcomes.filter(
    ({ outcome, got }) => outcome.startsWith("401") && got !== undefined,
  );
  // The names that the JSON has for programs.
  const { unjudged } = JSON.parse(renderComparison(result, "json"));
  return { ...result, unjudged, rejected };
}

const id = (number: number) => ((2654435761 * number) >>> 0).toString(36);
/** By chance, so that some causes get one node, and some two. */
const nodeOf = (number: number) => `node-${["alpha", "beta"][(((number * 2654435761) >>> 0) >> 7) % 2]}`;
const own: Readonly<Record<string, string>> = { none: "No key.", revoked: "This key was revoked." };

const why = "it varies in another way than ids and times";

test.each<[service: string, change: Change, at: string]>([
  [
    "its own message for each cause, and then another one for all: a lock",
    (reply, { ref, number }) =>
      setIn(reply, "body.error.message", number <= 8 ? (own[ref] ?? `Key ${ref}.`) : "Too many attempts."),
    "$.error.message",
  ],
  [
    "a lock whose message has as many words",
    (reply, { ref, number }) =>
      setIn(reply, "body.error.message", number <= 8 ? `Key ${ref}.` : "Try later."),
    "$.error.message",
  ],
  [
    "the name of one of two nodes",
    (reply, { number }) => setIn(reply, "headers.X-Served-By", nodeOf(number)),
    "X-Served-By",
  ],
  [
    "a header that every second response has",
    (reply, { count }) => {
      if (count % 2 === 0) setIn(reply, "headers.X-Cache", "MISS");
    },
    "X-Cache",
  ],
  [
    "another number of spaces",
    (reply, { number }) => {
      reply.bytes = `${JSON.stringify(reply.body)}${number % 2 === 0 ? " " : ""}`;
    },
    "body",
  ],
])("R14 a service with %s agrees only in part", async (_service, change, at) => {
  const { verdict, rejected, unjudged, differences } = await compare(change);
  expect([verdict, differences]).toEqual(["agrees_in_part", []]);
  for (const one of rejected) {
    expect(one).toMatchObject({
      result: "agrees_in_part",
      reason: `${at} was not judged: ${why}`,
    });
  }
  expect(unjudged).toEqual([{ at, why, outcomes: expect.arrayContaining(["401.unknown", "401.revoked"]) }]);
});

test.each<[service: string, change: Change, at: string]>([
  ["an id", (reply, { number }) => setIn(reply, "headers.X-Trace", id(number)), "X-Trace"],
  [
    "an id in a message",
    (reply, { number }) => setIn(reply, "body.error.message", `No valid key (${id(number)}).`),
    "$.error.message",
  ],
  [
    "the time in seconds",
    (reply, { number }) =>
      setIn(reply, "body.error.details", { time: 1_772_442_000 + Math.floor(number / 3) }),
    "$.error.details.time",
  ],
  [
    "the time in words",
    (reply, { number }) =>
      setIn(reply, "headers.Expires", new Date(1_772_442_000_000 + 400 * number).toUTCString()),
    "Expires",
  ],
  [
    "a counter",
    (reply, { number }) => setIn(reply, "headers.X-Failures-Left", String(100 - number)),
    "X-Failures-Left",
  ],
])("R14 a service with %s, new in each response, agrees", async (_service, change, at) => {
  const { verdict, unjudged, notes } = await compare(change);
  expect([verdict, unjudged]).toEqual(["agrees", []]);
  expect(notes).toContain(`Compared between the causes of 401 without ids and times: ${at}.`);
});

test("R14 a place where the 401s of one cause vary is open for all causes", async () => {
  const { rejected } = await compare((reply, { ref, count }) => {
    if (ref === "expired" && count % 2 === 0) setIn(reply, "headers.X-Cache", "MISS");
  });
  const inPart = rejected.filter(({ result }) => result === "agrees_in_part");
  expect(inPart).toEqual(rejected);
});

test("R14 of many places that vary, an outcome names one", async () => {
  const { rejected, unjudged } = await compare((reply, { number }) => {
    for (let index = 0; index < 5; index++) setIn(reply, `headers.X-${index}`, nodeOf(number));
  });
  expect(rejected[0]?.reason).toBe(`X-0 and 4 more were not judged: ${why}`);
  expect(unjudged).toHaveLength(5);
});
