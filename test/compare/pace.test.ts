import { describe, expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import type { CompareOptions } from "../../src/compare/session.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { type Misbehave, probed, probeKeys, type Reply } from "../support/probed-server.js";

/** Compares with a clock that only waits move. */
async function compare(misbehave: (now: () => number) => Misbehave, given: Partial<CompareOptions> = {}) {
  let time = 0;
  const waits: number[] = [];
  const sentences: string[] = [];
  const { send, refs } = probed(misbehave(() => time));
  const result = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys, probeLimits: false },
    ...{
      unknownKey: unknownSecret,
      random: () => 0,
      now: () => time,
      announce: (sentence) => void sentences.push(sentence),
    },
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      time += milliseconds;
    },
    ...given,
  });
  const of = (outcome: string) => result.outcomes.find((one) => one.outcome === outcome);
  return { ...result, of, waits, sentences, sent: refs.length, seconds: time / 1000 };
}

const limit = (reply: Reply, retryAfter: string | undefined) =>
  Object.assign(reply, {
    status: 429,
    headers: {
      "Content-Type": "application/json",
      ...(retryAfter !== undefined && { "Retry-After": retryAfter }),
    },
    body: { error: { code: "too_many_requests", message: "Later." } },
  });

/** A gateway that gives each address so many requests at once, and one more in each interval. */
const bucket =
  (size: number, interval: number, retryAfter: string) =>
  (now: () => number): Misbehave => {
    let level = size;
    let filledAt = 0;
    return (reply) => {
      level = Math.min(size, level + (now() - filledAt) / interval);
      filledAt = now();
      if (level >= 1) level -= 1;
      else limit(reply, retryAfter);
    };
  };

/** A gateway that gives each address so many requests in a window. */
const windows =
  (most: number, window: number) =>
  (now: () => number): Misbehave => {
    let started = -1;
    let count = 0;
    return (reply) => {
      const current = Math.floor(now() / window);
      if (current !== started) count = 0;
      started = current;
      count += 1;
      if (count > most) limit(reply, String(Math.ceil((window - (now() % window)) / 1000)));
    };
  };

test("the members of a gateway's own 429 are no notes", async () => {
  const gateway = (now: () => number): Misbehave => {
    const limitByAddress = bucket(5, 1000, "1")(now);
    return (reply, presented) => {
      limitByAddress(reply, presented);
      if (reply.status === 429) reply.body = { message: "API rate limit exceeded" };
    };
  };
  const { notes } = await compare(gateway);
  expect(notes.join("\n")).toContain("The comparison waited");
  expect(notes.join("\n")).not.toContain("not in the contract");
});

test("--pace waits between two requests", async () => {
  const { waits, sent, verdict } = await compare(() => () => {}, { pace: 1500 });
  expect([verdict, waits]).toEqual(["agrees", Array(sent - 1).fill(1500)]);
});

test.each<[gateway: string, misbehave: (now: () => number) => Misbehave, pace: number, most: number]>([
  ["one request a second, five at once", bucket(5, 1000, "1"), 1000, 30],
  ["sixty a minute, of which most are used up", windows(10, 20_000), 2000, 60],
  ["seven in ten seconds", windows(7, 10_000), 1429, 40],
])(
  "a gateway with %s is waited for once, and then compared at its pace",
  async (_gateway, misbehave, pace, most) => {
    const { verdict, differences, waits, sentences, notes, seconds } = await compare(misbehave);
    expect([verdict, differences]).toEqual(["agrees", []]);
    expect(waits.slice(1)).toEqual(Array(waits.length - 1).fill(pace));
    expect(sentences).toEqual([
      expect.stringMatching(
        new RegExp(
          `got 429 too_many_requests\\. Waits ${(waits[0] ?? 0) / 1000} s, and goes on with one request in ${pace / 1000} s\\.$`,
        ),
      ),
    ]);
    expect(notes).toEqual([expect.stringContaining("The comparison waited.")]);
    expect(seconds).toBeLessThanOrEqual(most);
  },
);

test.each([
  ["of exactly a minute", "60", 60_000],
  ["until a time that has passed", "Mon, 02 Mar 2026 09:00:00 GMT", 0],
])("a wait %s is one", async (_wait, retryAfter, first) => {
  const { verdict, waits } = await compare(() => (reply, { number }) => {
    if (number !== 6) return;
    limit(reply, retryAfter);
    reply.headers.Date = "Mon, 02 Mar 2026 09:00:10 GMT";
  });
  expect([verdict, waits[0]]).toEqual(["agrees", first]);
});

test("R24 counts with the 429 of a gateway in between are not compared", async () => {
  const { of, differences } = await compare((now) => {
    let limitedUntil = 0;
    return (reply, { ref, count }) => {
      if (ref === "active" && count === 2) limitedUntil = now() + 1000;
      if (now() < limitedUntil) limit(reply, "1");
    };
  });
  expect(differences).toEqual([]);
  expect(of("200.test")).toMatchObject({
    result: "agrees_in_part",
    reason: "$.data.usage.today was not judged: it was seen in 1 of 2 responses",
  });
});

test("an outcome whose first request was limited by a gateway is compared with the other causes", async () => {
  const { of, unjudged } = await compare(bucket(2, 1000, "1"));
  expect(of("401.malformed")).toMatchObject({
    result: "agrees",
    got: "429 too_many_requests, then 401 unauthorized",
  });
  expect(unjudged).toEqual([]);
});

describe("a gateway's 429 ends the comparison", () => {
  test.each<[what: string, misbehave: (now: () => number) => Misbehave, given: Partial<CompareOptions>]>([
    ["if it names a time in more than a minute", bucket(5, 1000, "61"), {}],
    [
      "if it names no time",
      () =>
        (reply, { number }) =>
          void (number > 5 && limit(reply, undefined)),
      {},
    ],
    ["if nothing can be waited for", bucket(5, 1000, "1"), { wait: undefined as never }],
    ["if no request is left", bucket(5, 1000, "1"), { maxRequests: 6 }],
  ])("%s", async (_what, misbehave, given) => {
    const { verdict, waits, sentences, differences } = await compare(misbehave, given);
    expect([verdict, waits, sentences, differences]).toEqual(["stopped", [], [], []]);
  });

  test("if a key that should be rejected gets it again after the wait", async () => {
    const { verdict, waits, differences, notes } = await compare(
      () =>
        (reply, { ref }) =>
          void (ref === "revoked" && limit(reply, "1")),
    );
    expect([verdict, waits, differences]).toEqual(["stopped", [1000, 1000], []]);
    expect(notes[0]).toMatch(/ Try again later, or with --pace 2s\.$/);
  });

  test("if it comes again after the wait", async () => {
    const { verdict, waits, endedBy } = await compare(
      () =>
        (reply, { number }) =>
          void (number > 5 && limit(reply, "2")),
    );
    expect([verdict, waits.length, endedBy]).toEqual(["stopped", 2, "401.revoked"]);
  });

  test("if a signal ends the wait", async () => {
    const stopping = new AbortController();
    const { verdict, sent } = await compare(bucket(5, 1000, "1"), {
      stop: stopping.signal,
      wait: async () => stopping.abort("SIGTERM"),
    });
    expect([verdict, sent]).toEqual(["stopped", 6]);
  });
});

test("a signal during --pace ends the comparison before the next request", async () => {
  const stopping = new AbortController();
  const { verdict, sent } = await compare(() => () => {}, {
    ...{ stop: stopping.signal, pace: 1000 },
    wait: async () => stopping.abort("SIGTERM"),
  });
  expect([verdict, sent]).toEqual(["stopped", 1]);
});

test("R22 a pace that does not reach the limit of the key leaves it out", async () => {
  const { of } = await compare(() => () => {}, { pace: 1000, probeLimits: true });
  expect(of("429.per_minute")).toMatchObject({
    result: "not_tried",
    reason: "one request in 1 s does not reach per_minute, 60",
  });
});
