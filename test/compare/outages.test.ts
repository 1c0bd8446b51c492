import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { randomStream } from "../../src/rules/seed.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { allProbeKeys, type Misbehave, probed, probeKeys, type Reply } from "../support/probed-server.js";
import { runs } from "../support/property-seed.js";

async function compare(misbehave: Misbehave, { env = allProbeKeys, maxRequests = 60 } = {}) {
  const { send, refs } = probed(misbehave);
  const result = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env, maxRequests, probeLimits: false },
    ...{ unknownKey: unknownSecret, random: () => 0 },
  });
  const of = (outcome: string) => result.outcomes.find((one) => one.outcome === outcome);
  return { ...result, of, refs, sent: refs.length };
}

const json = { "Content-Type": "application/json" };
const error = (code: string) => ({ error: { code, message: "Later." } });
const outages: Readonly<Record<string, Partial<Reply>>> = {
  "a 502 as text": {
    status: 502,
    headers: { "Content-Type": "text/plain" },
    bytes: "upstream connect error",
  },
  "a 500 as JSON": { status: 500, headers: json, body: error("internal") },
  "a 504": { status: 504, headers: {}, bytes: "" },
  "a 503": { status: 503, headers: json, body: error("unavailable") },
  "a redirect": { status: 302, headers: { Location: "https://status.example/" }, bytes: "" },
  "a 423": { status: 423, headers: json, body: error("locked") },
  "a 403": { status: 403, headers: json, body: error("access_denied") },
  "a page": { status: 200, headers: { "Content-Type": "text/html" }, bytes: "<html>Maintenance</html>" },
  "a text with 200": { status: 200, headers: { "Content-Type": "text/plain" }, bytes: "maintenance" },
};

test.each(Object.keys(outages))("%s to everything ends a comparison, and breaks no rule", async (what) => {
  for (let from = 2; from <= 16; from++) {
    const { verdict, differences, endedBy, sent, notes } = await compare((reply, { number }) => {
      if (number >= from) Object.assign(reply, outages[what]);
    });
    expect([from, verdict, differences]).toEqual([from, "stopped", []]);
    // The first 403s can be right; as long as no key has worked, each one that should is tried.
    if (what !== "a 403") expect(sent).toBeLessThanOrEqual(from === 2 ? 6 : from + 1);
    expect([endedBy === undefined, notes[0]]).toEqual([
      false,
      expect.stringMatching(
        from === 2
          ? /^No given key has worked: wrong keys, an allow list, or a lock\. /
          : /^The key that works no longer works: an outage, a lock or a limit\. .* Try again later\.$/,
      ),
    ]);
  }
});

test("what an outage showed is not learned, not noted, and the outcomes show why", async () => {
  const { of, notes, assumptions } = await compare((reply, { number }) => {
    if (number >= 6) {
      Object.assign(reply, {
        status: 502,
        headers: json,
        body: { error: { ...error("x").error, trace: 1 } },
      });
    }
  });
  const reason = "SVC_KEY_ACTIVE, which has worked, then got 502 x";
  expect(of("401.revoked")).toMatchObject({ result: "not_tried", got: "502 x", reason });
  expect(of("401.expired")).toMatchObject({
    result: "not_tried",
    reason: "the key that works no longer works: an outage, a lock or a limit",
  });
  expect(notes.join("\n")).not.toContain("trace");
  expect(notes[0]).toMatch(
    /\. 200\.test got 502 x "Later\." after 6 requests, and nothing was sent after it\. /,
  );
  expect(assumptions.request_id_on_errors).toBeUndefined();
});

test.each([423, 403])("a lock by %i after four rejected requests ends a comparison", async (status) => {
  let rejected = 0;
  const { verdict, differences, sent } = await compare((reply) => {
    if (rejected >= 4) Object.assign(reply, { status, headers: json, body: error("address_locked") });
    else if (reply.status > 400) rejected += 1;
  });
  expect([verdict, differences]).toEqual(["stopped", []]);
  expect(sent).toBeLessThanOrEqual(9);
});

test.each([1, 2, 3, 5, 7])(
  "a lock by a 401 in its own words after %i rejected requests breaks no rule, and gets at most five keys",
  async (after) => {
    for (const env of [allProbeKeys, probeKeys]) {
      let rejected = 0;
      let keysIntoLock = 0;
      const { differences, verdict } = await compare(
        (reply, { ref }) => {
          if (rejected >= after) {
            Object.assign(reply, { status: 401, headers: json, body: error("too_many_failures") });
            if (!["none", "unknown", "malformed"].includes(ref)) keysIntoLock += 1;
          } else if (reply.status === 401) rejected += 1;
        },
        { env },
      );
      expect([differences, verdict]).toEqual([[], "stopped"]);
      expect(keysIntoLock).toBeLessThanOrEqual(5);
    }
  },
);

test("a working key that no longer works shows a lock", async () => {
  const { verdict, differences, endedBy } = await compare((reply, { ref, number, count }) => {
    const isLocked = number > 11 && (ref !== "active" || count > 1);
    if (isLocked) Object.assign(reply, { status: 403, headers: json, body: error("locked") });
  });
  expect([verdict, differences, endedBy]).toEqual(["stopped", [], "200.test"]);
});

test.each([400, 403, 404, 500])(
  "%i to several keys of a service that still works is a broken rule of each",
  async (status) => {
    const { differences, endedBy, refs } = await compare(
      (reply, { ref }) => {
        if (!["malformed", "unknown", "revoked", "wrong-scope", "expired"].includes(ref)) return;
        Object.assign(reply, { status, headers: json, body: error("wrong") });
      },
      { env: probeKeys },
    );
    expect(endedBy).toBeUndefined();
    const outcomes = ["401.malformed", "401.unknown", "401.revoked", "403.insufficient_scope", "401.expired"];
    expect([...new Set(differences.map(({ outcome }) => outcome))]).toEqual(outcomes);
    // Each wrong response is followed by the key that works, in each pass.
    expect(refs.filter((ref) => ref === "active").length).toBeGreaterThanOrEqual(1 + 3 * outcomes.length);
  },
);

test("a 200 that is no JSON shows no key that works: another one is needed", async () => {
  const { refs, verdict, of } = await compare((reply, { ref }) => {
    if (ref === "active") Object.assign(reply, outages["a text with 200"]);
  });
  expect([refs.slice(0, 3), verdict, of("200.test")?.result]).toEqual([
    ["none", "active", "live"],
    "differs",
    "differs",
  ]);
});

test("one wrong response, of whichever status, ends nothing", async () => {
  for (const [what, wrong] of Object.entries(outages)) {
    const { differences, endedBy, refs } = await compare((reply, { ref }) => {
      if (ref === "revoked") Object.assign(reply, wrong);
    });
    // Two wrong responses never stand in a row.
    const nextRefs = refs.flatMap((ref, index) => (ref === "revoked" ? [refs[index + 1]] : []));
    expect([what, endedBy, nextRefs]).toEqual([what, undefined, ["active", "active", "active"]]);
    expect(differences).toMatchObject([
      { outcome: "401.revoked", at: "status", rules: ["R12"], seen: "3 of 3 times" },
    ]);
  }
});

test("a wrong response that no request could follow breaks no rule", async () => {
  const { verdict, differences, notes, of } = await compare(
    (reply, { number }) => {
      if (number > 5) Object.assign(reply, outages["a 504"]);
    },
    { maxRequests: 6 },
  );
  expect([verdict, differences]).toEqual(["agrees_in_part", []]);
  expect(notes[0]).toBe("The requests ran out: --max-requests is 6.");
  expect(of("401.revoked")?.reason).toBe("status was not judged: the requests ran out: --max-requests is 6");
});

test("a working key whose second request was not sent agrees in part", async () => {
  const { of, verdict, notes } = await compare(() => {}, { env: probeKeys, maxRequests: 8 });
  expect([verdict, notes]).toEqual(["agrees_in_part", ["The requests ran out: --max-requests is 8."]]);
  expect(of("200.test")).toMatchObject({
    result: "agrees_in_part",
    reason: "R24 was not judged: the requests ran out: --max-requests is 8",
  });
  expect(of("200.live")).toMatchObject({ result: "agrees_in_part" });
});

test("nothing differs where nothing was compared", async () => {
  const { verdict, differences, notes, outcomes, requests } = await compare(
    (reply) => void Object.assign(reply, outages["a 503"]),
  );
  expect([verdict, differences, notes, requests]).toEqual(["not_compared", [], [], 1]);
  expect(outcomes[0]).toMatchObject({
    result: "not_tried",
    reason: "the host does not respond like the API",
  });
  expect(new Set(outcomes.map(({ result }) => result))).toEqual(new Set(["not_tried"]));
});

test("R34 a key in three of three responses is a difference, of whichever status they are", async () => {
  const { differences } = await compare((reply, { ref, apiKey }) => {
    if (ref !== "revoked") return;
    Object.assign(reply, outages["a 504"], { headers: { "X-Key": String(apiKey) } });
  });
  expect(differences.map(({ rules }) => rules[0])).toEqual(expect.arrayContaining(["R34"]));
});

test.each([
  ["a 429 as JSON", { headers: json, body: error("slow_down") }],
  ["a 429 as a page", { headers: { "Content-Type": "text/html" }, bytes: "<html>Slow down</html>" }],
])("a lock whose control gets %s ends a comparison, and breaks no rule", async (_form, limited) => {
  const { verdict, differences, of, endedBy } = await compare((reply, { ref, number }) => {
    if (number < 6) return;
    if (ref === "active") Object.assign(reply, { status: 429, ...limited });
    else Object.assign(reply, { status: 423, headers: json, body: error("locked") });
  });
  expect([verdict, differences, endedBy]).toEqual(["stopped", [], "200.test"]);
  expect(of("401.revoked")).toMatchObject({
    result: "agrees_in_part",
    reason:
      "status was not judged: a 429 that was not asked for came again, or names no time of at most 60 s: a lock, or another limiter",
  });
});

describe("a service that fails now and then", () => {
  test.each([1, 2, 3, 5])(
    "breaks no rule if it fails once, after %i requests: a note has its request id",
    async (after) => {
      for (const what of Object.keys(outages)) {
        const { differences, verdict, notes } = await compare((reply, { number }) => {
          if (number !== after + 1) return;
          Object.assign(reply, outages[what]);
          reply.headers = { ...reply.headers, "X-Request-Id": "req-failed" };
        });
        expect([what, differences, verdict]).toEqual([what, [], "agrees_in_part"]);
        expect(notes[0]).toMatch(
          /^Not judged: \S+ of \S+, .*, because it was seen in 1 of \d responses: .*, request req-failed\.$/,
        );
      }
    },
  );

  test.each([2, 3, 4])("breaks no rule if each request no. %i fails, and is told as such", async (nth) => {
    const { differences, verdict, notes } = await compare((reply, { number }) => {
      if (number % nth === 0) Object.assign(reply, outages["a 500 as JSON"]);
    });
    // It meets the key that works.
    expect([differences, verdict]).toEqual([[], "stopped"]);
    expect(notes[0]).toMatch(/^The key that works no longer works: .*500 internal/);
  });

  test.each([2, 3, 4, 5, 6, 7])(
    "breaks no rule if %i requests in a row fail, wherever they are",
    async (length) => {
      for (const [what, outage] of Object.entries(outages)) {
        for (let from = 2; from <= 20; from++) {
          const { differences } = await compare((reply, { number }) => {
            if (number >= from && number < from + length) Object.assign(reply, outage);
          });
          expect([what, from, differences]).toEqual([what, from, []]);
        }
      }
    },
  );

  test("breaks no rule if its failures are of several kinds", async () => {
    const several = ["a 502 as text", "a 503", "a redirect", "a 504"].map((what) => outages[what]);
    for (let seed = 0; seed < 60; seed++) {
      const draw = randomStream(seed, "failures");
      const { differences } = await compare((reply, { number }) => {
        if (number > 1 && draw() % 4 === 0) Object.assign(reply, several[draw() % several.length]);
      });
      expect([seed, differences]).toEqual([seed, []]);
    }
  });

  test("breaks no rule if half of its requests fail by chance", async () => {
    for (let seed = 0; seed < 60; seed++) {
      const draw = randomStream(seed, "failures");
      const { differences, notes, verdict } = await compare((reply, { number }) => {
        if (number > 1 && draw() % 2 === 0) Object.assign(reply, outages["a 502 as text"]);
      });
      expect([seed, differences, verdict === "agrees"]).toEqual([seed, [], false]);
      expect(notes[0]).toMatch(/502/);
    }
  });

  const flapping = fc.record({
    seed: fc.nat(),
    what: fc.constantFrom(...Object.keys(outages)),
    share: fc.constantFrom(0.05, 0.1, 0.2, 0.5),
    /** Whose responses fail. */
    of: fc.constantFrom(undefined, 200, 401),
  });

  test("hardly ever breaks a rule, whichever part of its responses fails, however often: three in a row may fail by chance", async () => {
    let accused = 0;
    await fc.assert(
      fc.asyncProperty(flapping, async ({ seed, what, share, of }) => {
        const draw = randomStream(seed, "flapping");
        const { differences, sent } = await compare((reply, { number }) => {
          const fails = number > 1 && draw() / 2 ** 32 < share;
          if (fails && (of ?? reply.status) === reply.status) Object.assign(reply, outages[what]);
        });
        if (differences.length > 0) accused += 1;
        expect(sent).toBeLessThanOrEqual(60);
      }),
      runs(500),
    );
    expect(accused).toBeLessThanOrEqual(5);
  });

  test("is told from a rule that one outcome breaks: its request comes three times", async () => {
    const { differences, refs } = await compare((reply, { ref }) => {
      if (ref === "expired") Object.assign(reply, outages["a 403"]);
    });
    expect(differences).toMatchObject([{ outcome: "401.expired", at: "status" }]);
    expect(refs.filter((ref) => ref === "expired")).toHaveLength(3);
  });

  test("makes the same failure unjudged in responses that have it each time", async () => {
    const { differences, of, verdict } = await compare((reply, presented) => {
      const fails = presented.ref === "expired" || presented.number === 3;
      if (fails) Object.assign(reply, outages["a 504"]);
    });
    expect([differences, verdict]).toEqual([[], "agrees_in_part"]);
    expect(of("401.expired")?.reason).toBe(
      "status was not judged: the service responds like this now and then",
    );
  });
});
