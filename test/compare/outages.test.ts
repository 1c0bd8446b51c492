import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { randomStream } from "../../src/rules/seed.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import {
  allProbeKeys,
  type Misbehave,
  probed,
  probeKeys,
  type Reply,
  setIn,
} from "../support/probed-server.js";
import { runs } from "../support/property-seed.js";

async function compare(misbehave: Misbehave, { env = allProbeKeys, maxRequests = 60 } = {}) {
  const { send, refs } = probed(misbehave);
  const result = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env, maxRequests, probeLimits: false },
    ...{ unknownKey: unknownSecret },
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
    // The first 403s can be right.
    if (what !== "a 403") expect(sent).toBeLessThanOrEqual(from + 3);
    expect([endedBy === undefined, notes[0]]).toEqual([
      false,
      expect.stringMatching(
        / Nothing was sent after it: it may be an outage, a lock or a limit\. Try again later\.$/,
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
  const reason = "its response may be one of an outage, a lock or a limit";
  expect(of("401.revoked")).toMatchObject({ result: "not_tried", got: "502 x", reason });
  expect(of("401.expired")).toMatchObject({
    result: "not_tried",
    reason: "nothing was sent after 401.revoked got 502 x",
  });
  expect(notes.join("\n")).not.toContain("trace");
  expect(notes[0]).toMatch(/^401\.revoked got 502 x "Later\."; a request without a key then got 502 x\. /);
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
  "a lock by a 401 in its own words after %i rejected requests breaks no rule, and gets at most four keys",
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
      expect(keysIntoLock).toBeLessThanOrEqual(4);
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
    // The first request, its repetition, and a control for each key.
    expect(refs.filter((ref) => ref === "none")).toHaveLength(7);
  },
);

test("the first 200 of a key that is no JSON is judged if a request without a key still gets its 401", async () => {
  const { of, refs, verdict } = await compare((reply, { ref }) => {
    if (ref === "active") Object.assign(reply, outages["a text with 200"]);
  });
  const afterFirst = refs.slice(refs.indexOf("active") + 1);
  expect([afterFirst.slice(0, 3), verdict, of("200.test")?.result]).toEqual([
    ["active", "none", "active"],
    "differs",
    "differs",
  ]);
});

test("one wrong response, of whichever status, ends nothing", async () => {
  for (const [what, wrong] of Object.entries(outages)) {
    const { differences, endedBy, refs } = await compare((reply, { ref }) => {
      if (ref === "revoked") Object.assign(reply, wrong);
    });
    expect([what, endedBy, refs.filter((ref) => ref === "none").length]).toEqual([what, undefined, 3]);
    expect(differences[0]).toMatchObject({ outcome: "401.revoked", at: "status", rules: ["R12"] });
  }
});

test("a wrong response that no request could follow breaks no rule", async () => {
  const { verdict, differences, notes } = await compare(
    (reply, { number }) => {
      if (number > 5) Object.assign(reply, outages["a 504"]);
    },
    { maxRequests: 6 },
  );
  expect([verdict, differences]).toEqual(["stopped", []]);
  expect(notes[0]).toContain("; it could not be sent again. Nothing was sent");
});

test("a working key whose second request was not sent agrees in part", async () => {
  const { of, verdict } = await compare(() => {}, { env: probeKeys, maxRequests: 8 });
  expect(verdict).toBe("agrees_in_part");
  expect(of("200.test")).toMatchObject({
    result: "agrees_in_part",
    reason: "usage.today was not compared: the 8 requests of --max-requests are used up",
  });
  expect(of("200.live")).toMatchObject({ result: "agrees" });
});

test("nothing differs where nothing was compared", async () => {
  const { verdict, differences, notes, outcomes, requests } = await compare(
    (reply) => void Object.assign(reply, outages["a 503"]),
  );
  expect([verdict, differences, notes, requests]).toEqual(["not_compared", [], [], 1]);
  expect(outcomes[0]).toMatchObject({
    result: "not_tried",
    reason: "nothing was sent after the first request",
  });
  expect(new Set(outcomes.map(({ result }) => result))).toEqual(new Set(["not_tried"]));
});

test("R34 a key that an outage's response repeats is a difference", async () => {
  const { differences } = await compare((reply, { number, apiKey }) => {
    if (number < 6) return;
    Object.assign(reply, outages["a 504"]);
    setIn(reply, "headers.X-Key", String(apiKey));
  });
  expect(differences.map(({ rules }) => rules[0])).toEqual(expect.arrayContaining(["R34"]));
});

test.each([
  ["a 429 as JSON", { headers: json, body: error("slow_down") }],
  ["a 429 as a page", { headers: { "Content-Type": "text/html" }, bytes: "<html>Slow down</html>" }],
])("a lock whose control gets %s ends a comparison, and breaks no rule", async (_form, limited) => {
  const { verdict, differences, of, endedBy } = await compare((reply, { ref, number }) => {
    if (number < 6) return;
    if (ref === "none") Object.assign(reply, { status: 429, ...limited });
    else Object.assign(reply, { status: 423, headers: json, body: error("locked") });
  });
  expect([verdict, differences, endedBy]).toEqual(["stopped", [], "401.revoked"]);
  expect(of("401.revoked")).toMatchObject({
    result: "not_tried",
    reason: "its response may be one of an outage, a lock or a limit",
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
          /^One of two responses to \S+ was .* \(request req-failed\)\. The other one was as promised\.$/,
        );
      }
    },
  );

  test.each([2, 3, 4])("breaks no rule if each request no. %i fails, and is told as such", async (nth) => {
    const { differences, verdict, notes } = await compare((reply, { number }) => {
      if (number % nth === 0) Object.assign(reply, outages["a 500 as JSON"]);
    });
    expect([differences, verdict]).toEqual([[], "agrees_in_part"]);
    expect(notes[0]).toMatch(/^\d+ of \d+ requests failed, but not each time: .*500 internal/);
  });

  test.each([2, 3, 5])("breaks no rule if %i requests in a row fail, wherever they are", async (length) => {
    for (const [what, outage] of Object.entries(outages)) {
      for (let from = 2; from <= 20; from++) {
        const { differences } = await compare((reply, { number }) => {
          if (number >= from && number < from + length) Object.assign(reply, outage);
        });
        expect([what, from, differences]).toEqual([what, from, []]);
      }
    }
  });

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

  test("breaks no rule, whichever part of its responses fails, however often", async () => {
    await fc.assert(
      fc.asyncProperty(flapping, async ({ seed, what, share, of }) => {
        const draw = randomStream(seed, "flapping");
        const { differences, sent } = await compare((reply, { number }) => {
          const fails = number > 1 && draw() / 2 ** 32 < share;
          if (fails && (of ?? reply.status) === reply.status) Object.assign(reply, outages[what]);
        });
        expect(differences).toEqual([]);
        expect(sent).toBeLessThanOrEqual(60);
      }),
      runs(500),
    );
  });

  test("is told from a rule that one outcome breaks: its request comes twelve times", async () => {
    const { differences, refs } = await compare((reply, { ref }) => {
      if (ref === "expired") Object.assign(reply, outages["a 403"]);
    });
    expect(differences).toMatchObject([{ outcome: "401.expired", at: "status" }]);
    expect(refs.filter((ref) => ref === "expired")).toHaveLength(12);
  });

  test("is confirmed also if its first response was another one", async () => {
    const { differences, refs } = await compare((reply, { ref, count }) => {
      if (ref !== "expired") return;
      Object.assign(reply, { status: count === 1 ? 404 : 403, body: error("access_denied") });
    });
    expect(differences).toMatchObject([{ outcome: "401.expired", at: "status" }]);
    // The first one is of another kind, and 404 does not come again.
    expect(refs.filter((ref) => ref === "expired").length).toBeGreaterThanOrEqual(12);
  });
});
