import fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import type { Fault, Scenario } from "../../src/index.js";
import type { FaultOutcomeId } from "../../src/rules/fault-effects.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { startFrozen } from "../support/doors.js";
import {
  type FaultySent,
  met,
  sandboxWith,
  scenarioWith,
  send,
  unavailable,
  used,
} from "../support/faulty.js";
import { runs } from "../support/property-seed.js";
import { asked } from "../support/send.js";

const conditions = {
  key: fc.constantFrom("main", "other", "revoked", "third"),
  outcome: fc.constantFrom("200.test" as const, "401.revoked" as const),
  every: fc.integer({ min: 1, max: 4 }),
  requests: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
};
/** What a request must be for a fault to hit it; the times are minutes after the clock's start. */
const condition = fc.record(
  { ...conditions, organization: fc.constantFrom("bank", "insurer"), after: fc.nat(6), until: fc.nat(9) },
  { requiredKeys: [] },
);
type Condition = typeof condition extends fc.Arbitrary<infer Value> ? Value : never;
const effects = [{ reset: true }, { hang: true }, { truncate: true }, unavailable] as const;
const hits = ["fault.reset", "fault.hang", "fault.truncate", "fault.status"];

/** The fault that each request meets: every fault counts what it matches, and the first one that hits is met. */
function modeled(conditions: readonly Condition[], sent: readonly { key: string; minute: number }[]) {
  const counts = conditions.map(() => 0);
  return sent.map(({ key, minute }) => {
    const hit = conditions.map(({ every = 1, requests, after = 0, until = 99, ...wanted }, index) => {
      const request = {
        key,
        organization: key === "third" ? "insurer" : "bank",
        outcome: key === "revoked" ? "401.revoked" : "200.test",
      };
      const isMatching = Object.entries(wanted).every(([name, value]) => request[name as "key"] === value);
      if (!isMatching || minute < after || minute >= until) return false;
      const count = (counts[index] ?? 0) + 1;
      counts[index] = count;
      return count % every === 0 && (requests?.includes(count) ?? true);
    });
    return hits[hit.indexOf(true)] ?? null;
  });
}

test("a fault counts the requests that match all its conditions, and the first fault that hits is met", () => {
  const requests = fc.array(
    fc.record({ key: fc.constantFrom("main", "other", "revoked", "third"), minute: fc.nat(9) }),
  );
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 4 }), requests, (given, unordered) => {
      fc.pre(given.every(({ after = 0, until = 99 }) => after < until));
      const sent = unordered.toSorted((one, other) => one.minute - other.minute);
      const sandbox = sandboxWith(
        ...given.map(({ after, until, ...when }, index): Fault => {
          const span = { ...(after && { after: `${after}m` }), ...(until && { until: `${until}m` }) };
          return { when: { ...when, ...span } as object, then: effects[index] as Fault["then"] };
        }),
      );
      const start = sandbox.clock.now();
      const met = sent.map(({ key, minute }) => {
        sandbox.clock.set(start + minute * 60_000);
        return send(sandbox, { key }).fault;
      });
      expect(met).toEqual(modeled(given, sent));
    }),
    runs(100),
  );
});

test("after and until may be instants, and are met to the millisecond", () => {
  const when = { after: "2026-03-02T10:01:00+01:00", until: "2m" };
  const sandbox = sandboxWith({ when, then: unavailable });
  const at = (ms: number) => {
    sandbox.clock.set(Date.parse("2026-03-02T09:00:00Z") + ms);
    return send(sandbox).fault !== null;
  };
  expect([59_999, 60_000, 119_999, 120_000].map(at)).toEqual([false, true, true, false]);
});

test("without a condition it hits every request to the API, unknown outcomes and methods too", () => {
  for (const faults of [[{ then: unavailable }], [{ when: {}, then: unavailable }]]) {
    const sandbox = sandboxWith(...faults);
    expect(send(sandbox).status).toBe(503);
    expect(send(sandbox, { path: "/nowhere" }).status).toBe(503);
    expect(send(sandbox, { method: "POST" }).status).toBe(503);
  }
});

test("the outcome of a condition is where the request would end, and predicting it counts nothing", () => {
  const sandbox = sandboxWith({ when: { outcome: "401.revoked" }, then: unavailable });
  expect(send(sandbox, { key: "revoked" }).outcome).toBe("fault.status");
  expect(send(sandbox)).toMatchObject({ outcome: "200.test" });
  expect(used(sandbox)).toBe(1);

  const limited = startFrozen({
    ...scenarioWith([{ when: { outcome: "429.per_minute" }, then: { reset: true } }]),
    organizations: {
      bank: { type: "bank", keys: { main: { environment: "test", limits: { per_minute: 2 } } } },
    },
  });
  const outcomes = Array.from({ length: 4 }, () => send(limited).outcome);
  expect(outcomes).toEqual(["200.test", "200.test", "fault.reset", "fault.reset"]);
  limited.clock.advance(60_000);
  expect(send(limited).outcome).toBe("200.test");

  const elsewhere = sandboxWith({ when: { outcome: "404.unknown_path" }, then: { hang: true } });
  expect(send(elsewhere, { path: "/nowhere" }).outcome).toBe("fault.hang");
  expect(send(elsewhere, { method: "PUT" }).outcome).toBe("405.method");
});

test("a probability is met about so often; 0 is never and 1 is always", () => {
  for (const [probability, min, max] of [
    [0, 0, 0],
    [0.5, 920, 1080],
    [1, 2000, 2000],
  ] as const) {
    const hit = met(sandboxWith({ when: { probability }, then: unavailable }), 2000).filter(Boolean).length;
    expect(hit).toBeGreaterThanOrEqual(min);
    expect(hit).toBeLessThanOrEqual(max);
  }
});

const drastic: readonly (readonly [Fault["then"], FaultOutcomeId, number, string | null])[] = [
  [{ latency: "1s" }, "fault.latency", 200, null],
  [{ slow: 100 }, "fault.slow", 200, null],
  [{ status: 503, slow: 10 }, "fault.status", 503, "service_unavailable"],
  [{ status: 504, latency: "1s" }, "fault.status", 504, "gateway_timeout"],
  [{ status: 502, body: "html" }, "fault.status", 502, null],
  [{ malformed: true, slow: 10, latency: "1s" }, "fault.malformed", 200, null],
  [{ truncate: true }, "fault.truncate", 200, null],
  [{ truncate: true, status: 503, slow: 10 }, "fault.truncate", 503, "service_unavailable"],
  [{ hang: true }, "fault.hang", 0, null],
  [{ reset: true, latency: "1s" }, "fault.reset", 0, null],
];

test.each(drastic)("R24 %j is %s, %i, code %s; only delays count", (then, fault, status, code) => {
  const sandbox = sandboxWith({ then });
  const delays = fault === "fault.latency" || fault === "fault.slow";
  const outcome = delays ? "200.test" : fault;
  expect(send(sandbox)).toMatchObject({ fault, outcome, status, code, key: "main" });
  expect(sandbox.journal.requests({ outcome: fault })).toHaveLength(1);
  // R24: a request counts only when its own response comes whole.
  expect([used(sandbox), sandbox.registry.key("main").usage.minuteCount]).toEqual(delays ? [1, 1] : [0, 0]);
});

test("a latency is part of the duration, and a range is used from end to end", () => {
  const sandbox = sandboxWith({ then: { latency: { min: "100ms", max: "110ms" } } });
  const delays = Array.from({ length: 500 }, () => {
    const { delivery } = handle(sandbox, asked({}));
    return delivery?.latencyMs ?? 0;
  });
  expect(new Set(delays)).toEqual(new Set(Array.from({ length: 11 }, (_, index) => 100 + index)));
  expect(send(sandbox).durationMs).toBeGreaterThanOrEqual(100);
});

test("a latency with a median and a p99 has a long tail, and is the same for a seed", () => {
  const delaysIn = (sandbox: SandboxState) =>
    Array.from({ length: 2000 }, () => handle(sandbox, asked({})).delivery?.latencyMs ?? 0).sort(
      (a, b) => a - b,
    );
  const fault: Fault = { then: { latency: { median: "200ms", p99: "2s" } } };
  const delays = delaysIn(sandboxWith(fault));
  const [median = 0, p99 = 0] = [delays[1000], delays[1980]];
  expect(Math.abs(median - 200)).toBeLessThan(30);
  expect(Math.abs(p99 - 2100)).toBeLessThan(700);
  expect(Math.max(...delays)).toBeLessThanOrEqual(20_000);
  expect(delaysIn(sandboxWith(fault))).toEqual(delays);
});

test("a status has an X-Request-Id if the assumptions promise one on errors", () => {
  const withProfile = (profile: "minimal" | "typical") =>
    handle(startFrozen({ ...scenarioWith([{ then: unavailable }]), assumptions: { profile } }), asked({}))
      .response;
  expect(withProfile("typical").headers).toContain("X-Request-Id");
  expect(withProfile("minimal").headers).not.toContain("X-Request-Id");
});

test("a status has Retry-After in seconds or as a date, also on a gateway's page", () => {
  const waitOf = (then: Fault["then"]) => {
    const { headers } = handle(sandboxWith({ then }), asked({})).response;
    return headers[headers.indexOf("Retry-After") + 1];
  };
  expect(waitOf({ status: 503, retry_after: "1500ms" })).toBe("2");
  expect(waitOf({ status: 502, body: "html", retry_after: { date: "30s" } })).toBe(
    "Mon, 02 Mar 2026 09:00:30 GMT",
  );
});

test("R27 a status has the API's error body; html has a page that is not JSON", () => {
  const ask = (sandbox: SandboxState) => handle(sandbox, asked({})).response;
  const plain = ask(sandboxWith({ then: unavailable }));
  expect(JSON.parse(plain.body)).toEqual({
    error: { code: "service_unavailable", message: expect.any(String) },
  });
  const page = ask(sandboxWith({ then: { status: 502, body: "html" } }));
  expect(page.headers).toContain("text/html");
  expect(page.body).toMatch(/^<html>[\s\S]*502 Bad Gateway[\s\S]*<\/html>/);
  for (const { headers, body } of [plain, page]) {
    expect(headers[headers.indexOf("Content-Length") + 1]).toBe(String(Buffer.byteLength(body)));
  }
});

test("R14 no part of a broken response depends on the key, and no JSON parser accepts it", () => {
  const sandbox = sandboxWith({ then: { malformed: true } });
  const bodies = ["main", "revoked", "third"].map((key) => {
    const { response } = handle(sandbox, asked({ apiKey: secretToSend(sandbox, key) }));
    expect(response.status).toBe(200);
    expect(() => JSON.parse(response.body)).toThrow(SyntaxError);
    return response.body;
  });
  expect(new Set(bodies).size).toBe(1);
});

test("a response to HEAD has the same head and no body", () => {
  for (const [then] of drastic.filter(([{ truncate, malformed }]) => !truncate && !malformed)) {
    const [sandbox, twin] = [sandboxWith({ then }), sandboxWith({ then })];
    const apiKey = secretToSend(sandbox, "main");
    const get = handle(sandbox, asked({ apiKey }));
    const head = handle(twin, asked({ method: "HEAD", apiKey }));
    const { outcome, fault, status, delivery } = get;
    expect(head).toMatchObject({ outcome, fault, status, delivery, response: { ...get.response, body: "" } });
  }
});

const bodiless: Scenario = {
  ...scenarioWith([]),
  endpoints: {
    none: { path: "/none" },
    created: { method: "POST", path: "/none", status: 201 },
    gone: { method: "DELETE", path: "/none", status: 204 },
  },
};

test.each<[Fault["then"], alone: string | null, onHead: string | null]>([
  [{ truncate: true }, null, null],
  [{ malformed: true }, null, null],
  [{ truncate: true, hang: false }, null, null],
  [{ truncate: true, latency: "5ms" }, "fault.latency", "fault.latency"],
  [{ malformed: true, slow: 10 }, "fault.slow", "fault.slow"],
  [{ truncate: true, status: 503 }, "fault.truncate", "fault.status"],
])(
  "R24 %j is %s if the response has no body, and %s for HEAD; the request only then counts",
  (then, alone, onHead) => {
    const requests: [sent: FaultySent, fault: string | null][] = [
      [{ method: "HEAD" }, onHead],
      [{ path: "/none" }, alone],
      [{ method: "HEAD", path: "/none" }, onHead],
      [{ method: "POST", path: "/none" }, alone],
      [{ method: "DELETE", path: "/none" }, alone],
    ];
    for (const [sent, fault] of requests) {
      const sandbox = startFrozen({ ...bodiless, faults: [{ when: { requests: [1] }, then }] });
      const { status, outcome } = send(startFrozen(bodiless), sent);
      const isCounted = fault === null || !["fault.truncate", "fault.status"].includes(fault);
      const expected = isCounted ? { fault, status, outcome } : { fault, status: 503 };
      expect([sent, send(sandbox, sent)]).toEqual([sent, expect.objectContaining(expected)]);
      expect(used(sandbox)).toBe(isCounted ? 1 : 0);
      // Then the next request is the first that matches.
      expect(send(sandbox).fault).toBe(fault === null ? mainOutcome(then) : null);
    }
    // A rejection has a body.
    const rejected = startFrozen({ ...bodiless, faults: [{ then }] });
    expect(send(rejected, { key: "revoked", path: "/none" }).fault).toBe(mainOutcome(then));
  },
);

const mainOutcome = (then: Fault["then"]) => (then.truncate ? "fault.truncate" : "fault.malformed");

const seeded = fc.record(
  { ...conditions, probability: fc.double({ min: 0, max: 1, noNaN: true }) },
  { requiredKeys: [] },
);
const effect = fc.constantFrom<Fault["then"]>(
  { status: 503 },
  { reset: true },
  { hang: true },
  { latency: { min: "1ms", max: "1s" } },
  { slow: 10 },
  { truncate: true, latency: "5ms" },
);
const someFaults = fc.array(fc.record({ when: seeded, then: effect }), { minLength: 1, maxLength: 5 });
const keys = fc.array(fc.constantFrom("main", "other", "revoked"), { minLength: 1, maxLength: 40 });
const seeds = fc.nat();

/** All that comes of the requests, on a frozen clock. */
function play(seed: number, faults: readonly Fault[], sent: readonly string[]) {
  const sandbox = startFrozen(scenarioWith(faults), { seed });
  return sent.map((key) => {
    const apiKey = secretToSend(sandbox, key);
    const { delivery, outcome, response } = handle(sandbox, asked({ apiKey }));
    return { delivery, outcome, body: response.body };
  });
}

test("what happens is a function of the seed and the requests so far, however many come after them", () => {
  fc.assert(
    fc.property(seeds, someFaults, keys, fc.nat({ max: 40 }), (seed, faults, sent, length) => {
      expect(play(seed, faults, sent).slice(0, length)).toEqual(play(seed, faults, sent.slice(0, length)));
    }),
    runs(50),
  );
});

test("a fault more at the end of the list changes nothing for those before it", () => {
  fc.assert(
    fc.property(seeds, someFaults, effect, keys, (seed, faults, then, sent) => {
      const fewer = play(seed, faults, sent);
      const more = play(seed, [...faults, { when: { probability: 0.5 }, then }], sent);
      for (const [index, { outcome, delivery }] of fewer.entries()) {
        if (delivery !== undefined) expect(more[index]).toMatchObject({ outcome, delivery });
      }
    }),
    runs(50),
  );
});

test("another seed gives other faults", () => {
  const one: Fault[] = [{ when: { probability: 0.5 }, then: { reset: true } }];
  const sent = new Array<string>(64).fill("main");
  const outcomes = (seed: number) => play(seed, one, sent).map(({ outcome }) => outcome);
  expect(outcomes(1)).not.toEqual(outcomes(2));
});

test("two faults with the same probability are drawn apart", () => {
  const sandbox = sandboxWith(
    { when: { key: "main", probability: 0.5 }, then: unavailable },
    { when: { key: "main", probability: 0.5 }, then: { reset: true } },
  );
  const outcomes = Array.from({ length: 400 }, () => send(sandbox).outcome);
  const share = (path: string) => outcomes.filter((one) => one === path).length / outcomes.length;
  expect(share("fault.status")).toBeCloseTo(0.5, 1);
  expect(share("fault.reset")).toBeCloseTo(0.25, 1);
});
