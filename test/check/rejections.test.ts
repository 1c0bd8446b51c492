import { expect, test } from "vitest";
import { runCheck } from "../../src/check/run.js";
import { unknownSecret } from "../../src/scenario/population.js";
import type { Misbehave, Presented, Reply } from "../support/probed-server.js";
import { probed, probeKeys, setIn } from "../support/probed-server.js";
import { isNightly } from "../support/property-seed.js";

/** Checks a server, and returns the differences in its 401 responses, its notes and how often each cause was sent. */
async function check(misbehave: Misbehave, maxRequests = 44, env = probeKeys) {
  const { send, refs } = probed(misbehave);
  const url = "https://api.example/v1/relying-party/me";
  const { differences, notes } = await runCheck(send, {
    ...{ url, env, maxRequests, probeLimits: false, unknownKey: unknownSecret },
  });
  return {
    found: differences.map(({ pathId, at }) => `${pathId} ${at}`),
    differences,
    notes: notes.join("\n"),
    all: refs.length,
    times: (ref: string) => refs.filter((one) => one === ref).length,
  };
}

const causes = ["none", "malformed", "unknown", "revoked", "expired"];
const on401 =
  (change: (reply: Reply, presented: Presented) => void): Misbehave =>
  (reply, presented) => {
    if (reply.status === 401) change(reply, presented);
  };

/** Whole numbers from 0 to 999 that look random, the same ones each time. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * 1000);
  };
}

const seeds = isNightly ? 240 : 24;
const nodes = ["alpha", "beta", "gamma", "delta", "epsilon"];
const places: Readonly<Record<string, string>> = {
  Via: "headers.Via",
  "X-Served-By": "headers.X-Served-By",
  "the message": "body.error.message",
};
test.each(Object.keys(places))("R14 identical nodes that differ in %s cause no alarm", async (place) => {
  for (let seed = 1; seed <= seeds; seed++) {
    const random = randomFrom(seed);
    // Two to five nodes with numbers or names, chosen by chance or in turn; or a value that is new each time.
    const node = (number: number) =>
      seed % 3 === 0 ? number : (seed % 3 === 1 ? random() : number) % (2 + (seed % 4));
    const named = (index: number) => (seed % 2 === 0 ? (nodes[index] ?? index) : index);
    const { found } = await check(
      on401((reply, { number }) => setIn(reply, places[place] as string, `node ${named(node(number))}`)),
    );
    expect([seed, found]).toEqual([seed, []]);
  }
});

const hashOf = (text: string) =>
  [...text].reduce((hash, one) => (Math.imul(hash, 31) + one.charCodeAt(0)) >>> 0, 7);
test("R14 a balancer that gives each key its own node causes no alarm, and the note names the header", async () => {
  for (let salt = 1; salt <= 8; salt++) {
    const { found, notes } = await check(
      on401((reply, { apiKey = "" }) =>
        setIn(reply, "headers.X-Served-By", nodes[hashOf(`${salt}${apiKey}${salt}`) % (2 + (salt % 4))]),
      ),
    );
    expect([salt, found]).toEqual([salt, []]);
    expect(notes).toMatch(/^Not compared .*: X-Served-By\.$/m);
  }
});

test("R14 a leak on half of the nodes, by chance, is found or noted, and a node with another name is no leak", async () => {
  let found = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const random = randomFrom(seed);
    const leak = await check(
      on401((reply, { ref }) => {
        if (ref === causes[1 + (seed % 4)] && random() < 500) setIn(reply, "body.error.message", "Why.");
      }),
    );
    found += Number(leak.found.length > 0);
    expect([seed, leak.found.length > 0 || leak.notes]).not.toEqual([seed, ""]);
    const other = await check(
      on401((reply) => setIn(reply, "headers.Via", random() < 300 ? "node b" : "node a")),
    );
    expect([seed, other.found]).toEqual([seed, []]);
  }
  expect(found).toBeGreaterThan(0.75 * seeds);
});

const id = (number: number) => hashOf(`${number}x`).toString(16).padStart(8, "0");
const word = (ref: string) => (ref === "expired" ? "expired" : "rejected");
test.each<[leak: string, change: (reply: Reply, presented: Presented) => void, at: string]>([
  [
    "next to an id in the message",
    (reply, { ref, number }) =>
      setIn(reply, "body.error.message", `Key ${word(ref)}, request ${id(number)}.`),
    "$.error.message",
  ],
  [
    "as a number next to another one",
    (reply, { ref, number }) =>
      setIn(reply, "body.error.message", `Error ${ref === "expired" ? 17 : 5} in request ${number}.`),
    "$.error.message",
  ],
  [
    "in X-Request-Id",
    (reply, { ref, number }) => setIn(reply, "headers.X-Request-Id", `${word(ref)}-${id(number)}`),
    "X-Request-Id",
  ],
  [
    "in Server-Timing",
    (reply, { ref, number }) =>
      setIn(reply, "headers.Server-Timing", `${word(ref)};dur=${number % 7}.${number}`),
    "Server-Timing",
  ],
  [
    "in the reason phrase",
    (reply, { ref }) => {
      if (ref === "expired") reply.reason = "Key Expired";
    },
    "reason phrase",
  ],
  [
    "on every other node",
    (reply, { ref, number }) => {
      if (ref === "expired" && number % 2 === 0) setIn(reply, "body.error.message", "Expired.");
    },
    "$.error.message",
  ],
  [
    "next to a header that follows the key",
    (reply, { ref, apiKey = "" }) => {
      setIn(reply, "headers.X-Served-By", nodes[hashOf(apiKey) % 3]);
      if (ref === "expired") setIn(reply, "headers.X-Reason", "expired");
    },
    "X-Reason",
  ],
])("R14 an expired key that is revealed %s is found", async (_leak, change, at) => {
  const { found, all } = await check(on401(change));
  expect(found).toEqual([`401.expired ${at}`]);
  expect(all).toBeLessThanOrEqual(44);
});

test("R14 each cause is sent while requests are left, with other malformed and unknown keys; a difference that does not return is not reported", async () => {
  const keys = new Set<string | undefined>();
  const { all, times, notes } = await check((_reply, { ref, apiKey }) => {
    if (ref === "malformed" || ref === "unknown") keys.add(apiKey);
  });
  expect([all, causes.map(times), keys.size]).toEqual([44, [8, 8, 8, 8, 8], 16]);
  expect(notes).toContain("Compared 8 responses to each cause of 401.");
  const once = await check((reply, { ref, count }) => {
    if (ref === "expired" && count === 1) setIn(reply, "headers.Via", "another");
  });
  expect([once.found, once.notes]).toEqual([[], expect.stringContaining("401.expired")]);
});

test("only a 401 is sent again as one, and only a key that works is sent twice", async () => {
  const later = { status: 429, body: { error: { code: "rate_limited", message: "Later." } } };
  const limited = await check((reply, { ref, count }) => {
    if (ref === "expired" && count > 2) Object.assign(reply, later);
  });
  expect([limited.found, limited.times("expired")]).toEqual([[], 3]);
  const swapped = await check((reply, { ref }) => {
    if (ref === "active" || ref === "live") Object.assign(reply, { ...later, status: 401 });
    if (ref === "unknown") reply.status = 200;
  });
  expect(["active", "live", "unknown"].map(swapped.times)).toEqual([1, 1, 1]);
});

test("R14 a difference is reported next to others that vary, and the note names these", async () => {
  const { found, notes } = await check(
    on401((reply, { ref, number }) => {
      setIn(reply, "headers.X-Trace", `trace-${number}`);
      setIn(reply, "headers.X-Served-By", `node-${number % 2}`);
      if (ref === "expired") setIn(reply, "body.error.message", "Expired.");
    }),
  );
  expect(found).toEqual(["401.expired $.error.message"]);
  expect(notes).toMatch(/^Not compared .*: X-Trace, X-Served-By\.$/m);
});

test("R14 a malformed key is revealed by a value of its own where unknown keys have several", async () => {
  const { found } = await check(
    on401((reply, { ref, apiKey = "" }) => {
      const node = ref === "unknown" ? nodes[hashOf(apiKey) % 3] : ref === "malformed" ? "other" : nodes[0];
      setIn(reply, "headers.X-Served-By", node);
    }),
  );
  expect(found).toContain("401.malformed X-Served-By");
});

test("R14 a header that only one cause has is found, though its value varies", async () => {
  const { found } = await check((reply, { ref, number }) => {
    if (ref === "revoked") setIn(reply, "headers.X-Reason", `revoked ${number}`);
  });
  expect(found).toEqual(["401.revoked X-Reason"]);
});

test("R14 every cause that differs is found within 44 requests, also if all others differ from a missing key", async () => {
  const others = ["malformed", "unknown", "revoked", "expired"];
  for (const message of [(ref: string) => ref, (ref: string) => (ref === "none" ? "None." : "Wrong key.")]) {
    const change = on401((reply, { ref }) => setIn(reply, "body.error.message", message(ref)));
    const { found, all } = await check(change);
    expect(found).toEqual(others.map((cause) => `401.${cause} $.error.message`));
    expect(all).toBeLessThanOrEqual(44);
  }
});

test("R14 without requests for five responses, a note names the causes and the requests that it takes", async () => {
  const expired: Misbehave = (reply, { ref }) => {
    if (ref === "expired") setIn(reply, "body.error.message", "Expired.");
  };
  const few = await check(expired, 12);
  expect([few.found, few.all]).toEqual([[], 9]);
  expect(few.notes).toContain("401.expired");
  // Four more responses to each of five causes.
  expect((await check(expired, 9 + 20)).found).toEqual(["401.expired $.error.message"]);
  const [, needed = ""] = /--max-requests (\d+)/.exec(few.notes) ?? [];
  expect((await check(expired, Number(needed))).found).toEqual(["401.expired $.error.message"]);
});
