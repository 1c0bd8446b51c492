import { describe, expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import type { CompareOptions } from "../../src/compare/session.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import {
  allProbeKeys,
  type Misbehave,
  probed,
  probeKeys,
  type Reply,
  setIn,
} from "../support/probed-server.js";

async function compare(
  misbehave: Misbehave,
  env: Readonly<Record<string, string>>,
  given: Partial<CompareOptions> = {},
) {
  const { send, refs } = probed(misbehave);
  const url = "https://api.example/v1/relying-party/me";
  const result = await compareWithContract(send, {
    ...{ url, env, probeLimits: true, unknownKey: unknownSecret, random: () => 0, ...given },
  });
  const of = (outcome: string) => result.outcomes.find((one) => one.outcome === outcome);
  return {
    ...result,
    of,
    sent: refs.length,
    times: (ref: string) => refs.filter((one) => one === ref).length,
  };
}

const oneKey = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string };
const json = { "Content-Type": "application/json" };
const slowDown = { error: { code: "slow_down", message: "Later." } };
const { SVC_KEY_RATE_LIMITED: _, ...withoutDay } = allProbeKeys;
const manyKeys = { ...allProbeKeys, SVC_KEY_ROTATED: "SVC_test_Rrotated0123456789" };
const lock = (reply: Reply) =>
  Object.assign(reply, {
    ...{ status: 429, headers: { "Content-Type": "application/json", "Retry-After": "900" } },
    body: { error: { code: "too_many_failures", message: "Later." } },
  });

test("after a lock, nothing is sent, nothing is learned from it, and the outcomes show why", async () => {
  let failures = 0;
  const { notes, of, sent, verdict, assumptions, differences, endedBy } = await compare((reply) => {
    if (failures >= 5) lock(reply);
    else if (reply.status === 401) failures += 1;
  }, oneKey);
  expect([sent, verdict, differences, Object.keys(assumptions)]).toEqual([
    7,
    "stopped",
    [],
    ["www_authenticate"],
  ]);
  expect(of(String(endedBy))).toMatchObject({
    result: "agrees_in_part",
    got: "401 unauthorized, then 429 too_many_failures",
  });
  expect(of("429.per_minute")).toMatchObject({
    result: "not_tried",
    reason:
      "a 429 that was not asked for came again, or names no time of at most 60 s: a lock, or another limiter",
  });
  expect(notes).toContain(
    `A 429 that was not asked for came again, or names no time of at most 60 s: a lock, or another limiter. ${endedBy} got 429 too_many_failures "Later." (Retry-After: 900) after 6 requests, and nothing was sent after it. Try again in 900 s.`,
  );
});

test("R22 a 429 before per_minute requests of the key is not its limit", async () => {
  const { notes, of, assumptions } = await compare((reply, { ref, count }) => {
    if (ref === "active" && count > 5) lock(reply);
  }, oneKey);
  expect(of("200.test")).toMatchObject({
    result: "agrees_in_part",
    reason: "it got a 429 that was not asked for",
  });
  expect(of("429.per_minute")).toMatchObject({
    ...{
      result: "not_tried",
      reason:
        "a 429 that was not asked for came again, or names no time of at most 60 s: a lock, or another limiter",
    },
  });
  expect(notes[0]).toMatch(
    /200\.test got 429 too_many_failures "Later\." \(Retry-After: 900\) after \d+ requests, and nothing was sent after it/,
  );
  expect(Object.keys(assumptions)).toEqual(["www_authenticate"]);
});

test("R22 R23 a 429 of a key at its limit counts only if a request without a key does not get it", async () => {
  const limited = await compare(() => {}, allProbeKeys);
  expect(["429.per_day", "429.per_minute"].map((outcome) => limited.of(outcome)?.result)).toEqual([
    "agrees",
    "agrees",
  ]);
  // Each limit takes three requests: of its key, with another key, and without one. The lock begins with the second one.
  let sent = 0;
  const locked = await compare((reply) => {
    sent += 1;
    if (sent > limited.sent - 5) lock(reply);
  }, allProbeKeys);
  expect(locked.of("429.per_day")).toMatchObject({
    result: "not_tried",
    reason: "a request with SVC_KEY_ACTIVE then got 429 too_many_failures",
  });
  expect(locked.of("429.per_minute")?.result).toBe("not_tried");
  expect([locked.sent, locked.assumptions.rate_limit_code]).toEqual([limited.sent - 1, undefined]);
});

test("R25 another key that fails at the limit of a key did not get its 429, too", async () => {
  let isLimitReached = false;
  const { of } = await compare((reply) => {
    if (reply.status === 429) isLimitReached = true;
    if (isLimitReached && reply.status === 200) Object.assign(reply, { status: 500, body: "no" });
  }, allProbeKeys);
  expect(of("429.per_day")?.reason).toMatch(/^a request with SVC_\w+ then got 500$/);
});

test.each([1, 2])(
  "R25 a 429 of another key that comes %i times, as a gateway sends it, is no difference",
  async (length) => {
    let isLimitReached = false;
    let left = length;
    const { differences } = await compare((reply) => {
      const isInIt = isLimitReached && left > 0 && reply.status !== 429;
      if (reply.status === 429) isLimitReached = true;
      if (!isInIt || reply.status === 401) return;
      left -= 1;
      Object.assign(reply, { status: 429, headers: json, body: slowDown });
    }, withoutDay);
    expect(differences).toEqual([]);
  },
);

test("R25 a lock that begins before the request with another key is no limit of that key", async () => {
  const { sent: all } = await compare(() => {}, allProbeKeys);
  let sent = 0;
  const { of, differences, assumptions, endedBy } = await compare((reply) => {
    sent += 1;
    if (sent > all - 4) lock(reply);
  }, allProbeKeys);
  expect([differences, endedBy, assumptions.rate_limit_code]).toEqual([[], "401.missing", undefined]);
  expect(of("429.per_day")).toMatchObject({ result: "not_tried" });
});

test("R25 a limit of all keys of an organization is a difference, and not learned as the key's", async () => {
  let isReached = false;
  const { of, differences, assumptions, verdict, endedBy } = await compare((reply, { ref }) => {
    const isLimited = isReached;
    isReached ||= ref === "rate-limited-minute";
    if (isLimited && reply.status === 200) {
      Object.assign(reply, { status: 429, headers: json, body: slowDown });
    }
  }, withoutDay);
  expect(differences).toEqual([
    {
      rules: ["R25"],
      outcome: "429.per_minute",
      at: "status",
      expected: "200 for SVC_KEY_ACTIVE, although SVC_KEY_RATE_LIMITED_MINUTE is at its limit",
      found: "429 slow_down",
      seen: "3 of 3 times",
    },
  ]);
  expect([verdict, endedBy, of("429.per_minute")?.result]).toEqual(["differs", undefined, "differs"]);
  expect(assumptions).not.toHaveProperty("rate_limit_code");
  expect(assumptions).not.toHaveProperty("retry_after");
});

test("R25 needs another working key: a note shows that it was not judged", async () => {
  const misbehave: Misbehave = (reply, { ref, count }) => {
    if (reply.status === 200) setIn(reply, "body.data.limits.per_minute", 3);
    if (ref === "active" && count > 3) Object.assign(reply, { status: 429, headers: json, body: slowDown });
  };
  const alone = await compare(misbehave, oneKey);
  const note =
    "R25 was not judged for 429.per_minute: it needs another working key that surely has room: usage.today below per_minute and per_day.";
  expect([alone.verdict, alone.notes]).toEqual(["agrees", expect.arrayContaining([note])]);
  const two = { ...oneKey, SVC_KEY_LIVE: probeKeys.SVC_KEY_LIVE as string };
  const both = await compare(misbehave, two);
  expect([both.verdict, both.notes.includes(note), both.sent - alone.sent]).toEqual(["agrees", false, 3]);
});

test("R25 another key that used up its own minute is not asked", async () => {
  const { differences, notes } = await compare(
    (reply, { ref, count }) => {
      if (reply.status === 200) setIn(reply, "body.data.limits.per_minute", ref === "live" ? 2 : 3);
      const most = ref === "live" ? 2 : 3;
      if (["active", "live"].includes(ref) && count > most) {
        Object.assign(reply, { status: 429, headers: json, body: slowDown });
      }
    },
    { ...oneKey, SVC_KEY_LIVE: probeKeys.SVC_KEY_LIVE as string },
  );
  expect([differences, notes]).toEqual([
    [],
    expect.arrayContaining([
      expect.stringMatching(/^R25 was not judged for 429\.per_minute: it needs another working key/),
    ]),
  ]);
});

/** After the 429 of the key at its limit, the requests get these responses in turn. */
const afterLimit = (...changes: readonly ((reply: Reply) => void)[]): Misbehave => {
  let sinceLimit: number | undefined;
  return (reply, { ref }) => {
    if (sinceLimit !== undefined) {
      changes[sinceLimit]?.(reply);
      sinceLimit += 1;
    } else if (ref === "rate-limited-minute") {
      sinceLimit = 0;
    }
  };
};
const limits = (reply: Reply) => Object.assign(reply, { status: 429, headers: { ...json }, body: slowDown });

test("R25 a limit of another key is no difference if a request without a key meets it, too", async () => {
  const { differences, verdict, endedBy, of } = await compare(
    afterLimit(limits, limits, limits, limits),
    withoutDay,
  );
  expect([differences, verdict, endedBy]).toEqual([[], "stopped", "401.missing"]);
  expect(of("429.per_minute")?.result).toBe("not_tried");
});

test("R22 a 429 shows no limit of its key if the request without a key gets one, too", async () => {
  const keys = { SVC_KEY_RATE_LIMITED_MINUTE: allProbeKeys.SVC_KEY_RATE_LIMITED_MINUTE as string };
  const { of, assumptions } = await compare(afterLimit(limits), keys);
  expect(of("429.per_minute")).toMatchObject({
    ...{ result: "not_tried", reason: "a request without a key then got 429 slow_down" },
  });
  expect(assumptions).not.toHaveProperty("rate_limit_code");
});

test("without a way to wait, a limit ends a comparison at once", async () => {
  const { endedBy, sent } = await compare((reply, { number }) => {
    if (number <= 4) return;
    limits(reply);
    reply.headers["Retry-After"] = "1";
  }, allProbeKeys);
  expect([endedBy, sent]).toEqual(["200.live", 5]);
});

describe("a lock that answers 401", () => {
  /** After so many rejected requests, each key gets the 401 of a rejected one. */
  const lockAfter = (most: number): Misbehave => {
    let rejected = 0;
    return (reply) => {
      if (reply.status === 401) rejected += 1;
      else if (rejected >= most) {
        const body = { error: { code: "unauthorized", message: "No valid key." } };
        Object.assign(reply, { status: 401, headers: { "Content-Type": "application/json" }, body });
      }
    };
  };

  test("stops the comparison at the first key that should work, if one that has worked does not any more", async () => {
    // Six keys are rejected before the last two working ones.
    const { verdict, differences, endedBy, notes, of, times } = await compare(lockAfter(6), manyKeys);
    expect([verdict, differences, endedBy]).toEqual(["stopped", [], "200.test"]);
    expect(notes[0]).toMatch(
      /^The key that works no longer works: .* 200\.test got 401 unauthorized "No valid key\."/,
    );
    for (const outcome of ["200.retiring", "200.replacement"]) {
      expect(of(outcome)).toMatchObject({ result: "not_tried" });
    }
    // What came since the key worked last is not judged: nobody knows who has sent it.
    expect(of("401.rotated")?.result).toBe("not_tried");
    expect(times("rotated")).toBeLessThanOrEqual(1);
    expect(of("200.legacy")?.result).not.toBe("differs");
  });

  test("during the second round is noticed before the limits", async () => {
    const { verdict, differences, endedBy, of } = await compare(lockAfter(9), probeKeys, {
      maxRequests: 100,
    });
    expect([verdict, differences, endedBy]).toEqual(["stopped", [], "200.test"]);
    expect(of("429.per_minute")).toMatchObject({
      result: "not_tried",
      reason: "the key that works no longer works: an outage, a lock or a limit",
    });
  });
});

test("a service that blocks rejected keys otherwise still shows its limit, if the control gets its 401", async () => {
  let failures = 0;
  const { of, assumptions } = await compare((reply, { ref }) => {
    if (reply.status === 401 && ref !== "none" && ++failures > 10) reply.status = 403;
  }, allProbeKeys);
  expect(of("429.per_day")?.result).toBe("agrees");
  expect(assumptions.rate_limit_code?.value).toBe("rate_limited");
});

test("a 503 ends the comparison if the key that works gets it, too, and is no broken rule", async () => {
  const { of, differences, sent, verdict } = await compare((reply, { number }) => {
    if (number > 5) Object.assign(reply, { status: 503, body: "Later." });
  }, probeKeys);
  expect([verdict, differences]).toEqual(["stopped", []]);
  const why = "the key that works no longer works: an outage, a lock or a limit";
  expect([sent, of("401.expired")?.reason]).toEqual([7, why]);
});

describe("a working key whose first request gets 429", () => {
  /** Used up by an earlier comparison until `reset`. */
  const usedUp = (headers: Readonly<Record<string, string>>, isReset: () => boolean): Misbehave => {
    let inMinute = 0;
    return (reply, { ref }) => {
      if (ref !== "active" || (isReset() && ++inMinute <= 60)) return;
      const body = { error: { code: "rate_limited", message: "Later." } };
      Object.assign(reply, { status: 429, headers: { ...reply.headers, ...headers }, body });
    };
  };
  const waiting = () => {
    const waits: number[] = [];
    const sentences: string[] = [];
    return {
      ...{ waits, sentences, announce: (sentence: string) => void sentences.push(sentence) },
      wait: async (milliseconds: number) => void waits.push(milliseconds),
    };
  };

  test.each([
    [{ "Retry-After": "42" }, 42_000],
    [{ "Retry-After": "0" }, 0],
    [{ Date: "Mon, 02 Mar 2026 09:00:20 GMT", "Retry-After": "Mon, 02 Mar 2026 09:01:00 GMT" }, 40_000],
    [{ Date: "Mon, 02 Mar 2026 09:00:20 GMT", "Retry-After": "Monday, 02-Mar-26 09:01:00 GMT" }, 40_000],
    [{ Date: "Mon, 02 Mar 2026 09:00:20 GMT", "Retry-After": "Mon, 02 Mar 2026 09:00:00 GMT" }, 0],
    [{ Date: "Mon, 02 Mar 2026 09:00:20 GMT", "Retry-After": "Mon, 02 Mar 2026 09:01:20 GMT" }, 60_000],
  ])("is sent again after its minute, with %j after %i ms", async (headers, milliseconds) => {
    const { waits, sentences, ...given } = waiting();
    const misbehave = usedUp(headers, () => waits.length > 0);
    const { of, differences, verdict, endedBy } = await compare(misbehave, oneKey, given);
    expect([waits, differences, verdict, endedBy]).toEqual([[milliseconds], [], "agrees", undefined]);
    expect(sentences[0]).toBe(
      `200.test got 429 rate_limited. Waits ${milliseconds / 1000} s, and sends the request again.`,
    );
    expect(of("200.test")).toMatchObject({ result: "agrees", got: "429 rate_limited, then 200" });
    expect(of("429.per_minute")?.result).toBe("agrees");
    expect(of("401.missing")?.result).toBe("agrees");
  });

  test.each<[what: string, misbehave: Misbehave, verdict: string, endedBy: string, sent: number]>([
    ["names a later time", usedUp({ "Retry-After": "61" }, () => false), "stopped", "200.test", 2],
    ["names no time", usedUp({ "Retry-After": "soon" }, () => false), "stopped", "200.test", 2],
    [
      "has a date that nobody can compare",
      usedUp({ "Retry-After": "Mon, 02 Mar 2026 09:01:00 GMT" }, () => false),
      "stopped",
      "200.test",
      2,
    ],
  ])("ends the comparison without a wait if its response %s", async (_what, misbehave, ...expected) => {
    const { waits, sentences, ...given } = waiting();
    const { verdict, endedBy, sent } = await compare(misbehave, oneKey, given);
    expect([verdict, endedBy, sent]).toEqual(expected);
    expect([waits, sentences]).toEqual([[], []]);
  });

  test("is waited for once: the second 429 ends the comparison", async () => {
    const { waits, sentences: _, ...given } = waiting();
    const { verdict, endedBy, sent } = await compare(
      usedUp({ "Retry-After": "60" }, () => false),
      oneKey,
      given,
    );
    expect([waits, verdict, endedBy, sent]).toEqual([[60_000], "stopped", "200.test", 3]);
  });

  test("is not sent again if a signal ends the wait", async () => {
    const stopping = new AbortController();
    const { verdict, of, sent } = await compare(
      usedUp({ "Retry-After": "60" }, () => false),
      oneKey,
      {
        stop: stopping.signal,
        wait: async () => stopping.abort("SIGTERM"),
      },
    );
    expect([verdict, sent]).toEqual(["stopped", 2]);
    expect(of("200.test")?.result).toBe("not_tried");
  });

  test("is not waited for without a time, or if no request is left", async () => {
    const { waits, sentences: _, ...given } = waiting();
    const rejected = await compare(
      (reply, { ref }) => void (ref === "revoked" && Object.assign(reply, { status: 429 })),
      probeKeys,
      given,
    );
    const few = await compare(
      usedUp({ "Retry-After": "1" }, () => false),
      oneKey,
      { ...given, maxRequests: 2 },
    );
    expect([waits, rejected.verdict, few.verdict]).toEqual([[], "stopped", "stopped"]);
  });
});

describe("an HTML page", () => {
  const page = (reply: Reply) =>
    Object.assign(reply, {
      status: 403,
      headers: { "Content-Type": "text/html" },
      bytes: "<html>Blocked</html>",
    });

  test("that the key that works gets, too, ends the comparison without a difference", async () => {
    const { verdict, endedBy, sent, of, notes } = await compare(
      (reply, { number }) => void (number > 5 && page(reply)),
      probeKeys,
    );
    expect([verdict, endedBy, sent]).toEqual(["stopped", "200.test", 7]);
    expect(of("401.expired")).toMatchObject({ result: "not_tried" });
    expect(notes[0]).toMatch(
      /^The key that works no longer works: .* 200\.test got 403, an HTML page after 6 requests/,
    );
  });

  test("between other responses ends nothing, and is one of two", async () => {
    const { endedBy, differences, of, notes } = await compare(
      (reply, { number }) => void (number === 5 && page(reply)),
      probeKeys,
      { probeLimits: false },
    );
    expect([differences, endedBy, of("200.live")?.result]).toEqual([[], undefined, "agrees_in_part"]);
    expect(notes[0]).toBe(
      "Not judged: status of 200.live, 403, an HTML page in place of 200, because it was seen in 1 of 2 responses: 403, an HTML page.",
    );
  });
});

test("a signal while the minute of a key is used up leaves what was compared before", async () => {
  const stopping = new AbortController();
  const { of, verdict } = await compare(
    (_reply, { ref, count }) => {
      if (ref === "active" && count === 5) stopping.abort("SIGINT");
    },
    oneKey,
    { stop: stopping.signal },
  );
  expect(verdict).toBe("stopped");
  expect(of("200.test")).toMatchObject({ result: "agrees", reason: undefined });
  expect(of("429.per_minute")).toMatchObject({ result: "not_tried", reason: "it was stopped by SIGINT" });
});

describe("a lock that answers 401, in the same words or its own", () => {
  const keys = manyKeys;
  const realKeys: readonly (string | undefined)[] = Object.values(keys);
  const cases = [1, 2, 3, 4, 5, 6, 7].flatMap((after) =>
    ["No valid key.", "Blocked."].map((words) => [after, words] as const),
  );

  test.each(cases)(
    "after %i rejected requests, with %j, is no difference, and few keys get into it",
    async (after, message) => {
      for (const retryAfter of [undefined, "600"]) {
        let rejected = 0;
        let keysInLock = 0;
        const { differences, verdict, notes } = await compare(
          (reply, { apiKey }) => {
            if (rejected >= after) {
              if (realKeys.includes(apiKey)) keysInLock += 1;
              const headers = { ...json, ...(retryAfter && { "Retry-After": retryAfter }) };
              Object.assign(reply, {
                status: 401,
                headers,
                body: { error: { code: "unauthorized", message } },
              });
            } else if (reply.status === 401) rejected += 1;
          },
          keys,
          { probeLimits: false },
        );
        expect([retryAfter, differences, verdict === "agrees"]).toEqual([retryAfter, [], false]);
        expect(keysInLock).toBeLessThanOrEqual(5);
        const isTold = retryAfter !== undefined;
        if (isTold) expect(notes[0]).toContain(`got 401 unauthorized "${message}" (Retry-After: 600)`);
      }
    },
  );

  test("before any key has worked, it cannot be told from wrong keys: each one that should work is tried once", async () => {
    const { differences, verdict, notes, refs } = await compareAll401();
    expect([differences, verdict]).toEqual([[], "stopped"]);
    expect(refs).toEqual(["none", "active", "live", "legacy", "retiring", "replacement"]);
    expect(notes[0]).toBe(
      'No given key has worked: wrong keys, an allow list, or a lock. 200.replacement got 401 unauthorized "No valid key." after 5 requests, and nothing was sent after it. Look at the keys, or try again later.',
    );
  });

  async function compareAll401() {
    const { send, refs } = probed(
      (reply) =>
        void Object.assign(reply, {
          status: 401,
          headers: json,
          body: { error: { code: "unauthorized", message: "No valid key." } },
        }),
    );
    const url = "https://api.example/v1/relying-party/me";
    const options = { url, env: keys, probeLimits: false, unknownKey: unknownSecret, random: () => 0 };
    return { ...(await compareWithContract(send, options)), refs };
  }

  test("a wrong key is a difference as soon as another one works", async () => {
    const { differences } = await compare(
      (reply, { ref }) =>
        void (
          ref === "active" &&
          Object.assign(reply, {
            status: 401,
            body: { error: { code: "unauthorized", message: "No valid key." } },
          })
        ),
      keys,
      { probeLimits: false },
    );
    expect(differences).toEqual([
      expect.objectContaining({
        outcome: "200.test",
        rules: ["R1"],
        found: "401 unauthorized; is the key in SVC_KEY_ACTIVE the right one?",
      }),
    ]);
  });
});

test.each([
  [59, false],
  [20, true],
])("R25 is judged with a key that surely has room: usage.today %i", async (today, isJudged) => {
  let isReached = false;
  const { differences, notes } = await compare(
    (reply, { ref, count }) => {
      if (reply.status === 200) {
        setIn(reply, "body.data.usage.today", today + count);
        if (isReached) Object.assign(reply, { status: 429, headers: json, body: slowDown });
      }
      isReached ||= ref === "rate-limited";
    },
    { ...oneKey, SVC_KEY_RATE_LIMITED: allProbeKeys.SVC_KEY_RATE_LIMITED as string },
  );
  expect(differences.map(({ rules }) => rules.join())).toEqual(isJudged ? ["R25"] : []);
  const notJudged = notes.filter((note) => note.startsWith("R25 was not judged for 429.per_day: "));
  expect(notJudged).toHaveLength(isJudged ? 0 : 1);
});
