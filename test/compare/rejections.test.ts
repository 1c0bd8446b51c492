import { describe, expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { randomStream } from "../../src/rules/seed.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import {
  allProbeKeys,
  type Misbehave,
  type Presented,
  probed,
  probeKeys,
  type Reply,
  setIn,
} from "../support/probed-server.js";
import { isNightly } from "../support/property-seed.js";

/** Compares a server with the contract, and returns the differences in its 401 responses, its notes and how often each cause was sent. */
async function compare(misbehave: Misbehave, maxRequests = 90, env = probeKeys) {
  const { send, refs } = probed(misbehave);
  const url = "https://api.example/v1/relying-party/me";
  const { differences, notes, unjudged } = await compareWithContract(send, {
    ...{ url, env, maxRequests, probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  return {
    found: differences.map(({ outcome, at }) => `${outcome} ${at}`),
    differences,
    notes: notes.join("\n"),
    open: unjudged.map(({ at }) => at),
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

const seeds = isNightly ? 240 : 24;
const nodes = ["alpha", "beta", "gamma", "delta", "epsilon"];
const places: Readonly<Record<string, string>> = {
  Via: "headers.Via",
  "X-Served-By": "headers.X-Served-By",
  "the message": "body.error.message",
};
test.each(Object.keys(places))("R14 identical nodes that differ in %s cause no alarm", async (place) => {
  for (let seed = 1; seed <= seeds; seed++) {
    const draw = randomStream(seed, "nodes");
    // Two to five nodes with numbers or names, chosen by chance or in turn; or a value that is new each time.
    const node = (number: number) =>
      seed % 3 === 0 ? number : (seed % 3 === 1 ? draw() : number) % (2 + (seed % 4));
    const named = (index: number) => (seed % 2 === 0 ? (nodes[index] ?? index) : index);
    const { found } = await compare(
      on401((reply, { number }) => setIn(reply, places[place] as string, `node ${named(node(number))}`)),
    );
    expect([seed, found]).toEqual([seed, []]);
  }
});

const dead = { SVC_KEY_ROTATED: "SVC_test_Rrotated0123456789" };
const { SVC_KEY_LIVE: _, ...withoutLive } = allProbeKeys;
/** Of several lengths of the first round, and of the second one. */
const keySets: readonly Readonly<Record<string, string>>[] = [
  {},
  probeKeys,
  allProbeKeys,
  { ...allProbeKeys, ...dead },
  { ...withoutLive, ...dead },
];
test.each([2, 3, 4, 5, 6, 7, 8, 9])(
  "R14 of %i nodes in turn, one with another version causes no alarm",
  async (count) => {
    for (const env of keySets) {
      for (let deviating = 0; deviating < count; deviating++) {
        const misbehave = on401((reply, { number }) => {
          if (number % count === deviating) {
            setIn(reply, "body.error.message", "A valid API key is required.");
          }
        });
        const { found } = await compare(misbehave, 60, env);
        expect([Object.keys(env), deviating, found]).toEqual([Object.keys(env), deviating, []]);
      }
    }
  },
);

const hashOf = (text: string) =>
  [...text].reduce((hash, one) => (Math.imul(hash, 31) + one.charCodeAt(0)) >>> 0, 7);
test("R14 a balancer that gives each key its own node causes no alarm, and the header is not judged", async () => {
  for (let salt = 1; salt <= 8; salt++) {
    const { found, open } = await compare(
      on401((reply, { apiKey = "" }) =>
        setIn(reply, "headers.X-Served-By", nodes[hashOf(`${salt}${apiKey}${salt}`) % (2 + (salt % 4))]),
      ),
    );
    expect([salt, found]).toEqual([salt, []]);
    expect(open).toContain("X-Served-By");
  }
});

const id = (number: number) => hashOf(`${number}x`).toString(16).padStart(8, "0");
type Change = (reply: Reply, presented: Presented) => void;

test.each<[leak: string, change: Change, at: string]>([
  [
    "in the message, next to ids and times",
    (reply, { ref, number }) => {
      setIn(reply, "body.error.message", ref === "expired" ? "Expired." : "No valid key.");
      setIn(reply, "body.error.details", { trace: id(number) });
      setIn(reply, "headers.Date", `Mon, 02 Mar 2026 09:00:${10 + (number % 50)} GMT`);
      setIn(reply, "headers.X-Trace", `trace-${number}`);
      setIn(reply, "headers.X-Served-By", `node-${number % 2}`);
    },
    "$.error.message",
  ],
  [
    "in a message with an id",
    (reply, { ref, number }) =>
      setIn(
        reply,
        "body.error.message",
        `${ref === "expired" ? "The key has expired" : "No valid key"} (${id(number)}).`,
      ),
    "$.error.message",
  ],
  [
    "in one word of a message with an id",
    (reply, { ref, number }) =>
      setIn(reply, "body.error.message", `Key ${ref === "expired" ? ref : "invalid"} (${id(number)}).`),
    "$.error.message",
  ],
  [
    "in a member next to an id",
    (reply, { ref, number }) =>
      setIn(reply, "body.error.details", { trace: id(number), reason: ref === "expired" ? ref : "invalid" }),
    "$.error.details.reason",
  ],
  [
    "in a member next to a list that is longer each time",
    (reply, { ref, number }) => {
      const trace = Array.from({ length: 1 + (number % 3) }, (_, index) => id(number + index));
      setIn(reply, "body.error.details", { trace, ...(ref === "expired" && { reason: ref }) });
    },
    "$.error.details.reason",
  ],
  [
    "in a member whose name looks like the path of another one",
    (reply, { ref }) => {
      const own = ref === "expired" ? ref : "invalid";
      setIn(reply, "body.error.details", { "why.code": own, why: { code: "x" } });
    },
    '$.error.details["why.code"]',
  ],
  [
    "by a parameter of a challenge",
    (reply, { ref }) =>
      setIn(reply, "headers.WWW-Authenticate", `ApiKey realm="api"${ref === "expired" ? ', gone="1"' : ""}`),
    "WWW-Authenticate",
  ],
  [
    "by a challenge",
    (reply, { ref }) => {
      if (ref === "expired") setIn(reply, "headers.WWW-Authenticate", 'ApiKey realm="api"');
    },
    "WWW-Authenticate",
  ],
  [
    "in a header with an id",
    (reply, { ref, number }) =>
      setIn(reply, "headers.X-Trace", `${id(number)} ${ref === "expired" ? ref : "invalid"}`),
    "X-Trace",
  ],
  [
    "by the presence of X-Request-Id",
    (reply, { ref, number }) => {
      if (ref === "expired") setIn(reply, "headers.X-Request-Id", id(number));
    },
    "X-Request-Id",
  ],
  [
    "by a member that comes twice",
    (reply, { ref }) => {
      const error = '"error":{"code":"unauthorized","message":"No valid key."}';
      reply.bytes = ref === "expired" ? `{${error},${error}}` : `{${error}}`;
    },
    "body",
  ],
  [
    "by the version of HTTP",
    (reply, { ref }) => {
      if (ref === "expired") reply.version = "1.0";
    },
    "HTTP version",
  ],
  [
    "in the reason phrase",
    (reply, { ref }) => {
      if (ref === "expired") reply.reason = "Key Expired";
    },
    "reason phrase",
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
  const { found, all } = await compare(on401(change));
  expect(found).toEqual([`401.expired ${at}`]);
  expect(all).toBeLessThanOrEqual(90);
});

test("R14 each 401 is sent twice, with other malformed and unknown keys, and one that differs three times more", async () => {
  const keys = new Set<string | undefined>();
  const { all, times } = await compare((_reply, { ref, apiKey }) => {
    if (ref === "malformed" || ref === "unknown") keys.add(apiKey);
  });
  expect([all, causes.map(times), keys.size]).toEqual([19, [2, 2, 4, 2, 2], 5]);
  const leak = await compare(
    on401((reply, { ref }) => setIn(reply, "headers.X-Leak", String(ref === "expired"))),
  );
  expect([leak.found, leak.times("expired"), leak.times("unknown")]).toEqual([["401.expired X-Leak"], 5, 14]);
});

test("R14 a difference that does not return is listed, and not judged", async () => {
  const once = await compare((reply, { ref, count }) => {
    if (ref === "expired" && count <= 4) setIn(reply, "headers.Via", "another");
  });
  expect([once.found, once.open]).toEqual([[], ["Via"]]);
});

test("R14 a text whose number of words varies is listed, and not compared", async () => {
  const change = on401((reply, { ref, number }) =>
    setIn(
      reply,
      "body.error.message",
      `${ref === "expired" ? "Expired" : "Invalid"}${" again".repeat(number % 3)}`,
    ),
  );
  const { found, open } = await compare(change);
  expect([found, open]).toEqual([[], ["$.error.message"]]);
});

const everyCause = ["missing", "malformed", "revoked", "expired"];
test.each<[leak: string, messages: Readonly<Record<string, string>>, found: readonly string[]]>([
  [
    "every cause its own message",
    { none: "None.", malformed: "Bad.", unknown: "Unknown.", revoked: "Revoked.", expired: "Expired." },
    everyCause,
  ],
  ["a gateway's message", { none: "No key.", malformed: "No key." }, ["missing", "malformed"]],
  ["a message if a key exists", { revoked: "Inactive.", expired: "Inactive." }, ["revoked", "expired"]],
  [
    "three messages",
    { none: "None.", revoked: "Gone.", expired: "Gone." },
    ["missing", "revoked", "expired"],
  ],
  ["another message for an unknown key", { unknown: "Who?" }, ["unknown"]],
])(
  "R14 %s is found in each cause that differs from unknown keys, or in these if only they do",
  async (_leak, messages, found) => {
    const { differences, all } = await compare(
      on401((reply, { ref }) => setIn(reply, "body.error.message", messages[ref] ?? "No valid key.")),
    );
    expect(differences.map(({ outcome, at }) => [outcome, at])).toEqual(
      found.map((cause) => [`401.${cause}`, "$.error.message"]),
    );
    expect(all).toBeLessThanOrEqual(90);
  },
);

test("R14 causes that differ in their own ways are all found within 90 requests", async () => {
  const { found, all } = await compare(
    on401((reply, { ref }) => {
      if (ref === "expired") setIn(reply, "body.error.message", "Expired.");
      if (ref === "revoked") setIn(reply, "headers.X-Reason", "revoked");
      if (ref === "malformed") {
        reply.bytes = '{ "error": { "code": "unauthorized", "message": "No valid key." } }';
      }
    }),
  );
  expect(found.sort()).toEqual(["401.expired $.error.message", "401.malformed body", "401.revoked X-Reason"]);
  expect(all).toBeLessThanOrEqual(90);
});

test("R14 six causes, each with its own message, are found next to all other outcomes within 90 requests", async () => {
  const { SVC_KEY_RATE_LIMITED: _, SVC_KEY_RATE_LIMITED_MINUTE: __, ...keys } = allProbeKeys;
  const change = on401((reply, { ref, apiKey }) => {
    setIn(reply, "body.error.message", apiKey === dead.SVC_KEY_ROTATED ? "Rotated." : `Key ${ref}.`);
  });
  const { differences, all } = await compare(change, 90, { ...keys, ...dead });
  expect([differences.length, all <= 90]).toEqual([5, true]);
});

test("R14 a leak shows nothing if an unknown key gets another response than a 401", async () => {
  // Two in pass 1, and two with the other prefix.
  for (let failing = 5; failing <= 12; failing++) {
    const { found } = await compare((reply, { ref, count }) => {
      if (ref === "expired") setIn(reply, "headers.X-Leak", "1");
      if (ref === "unknown" && count === failing) reply.status = 503;
    });
    expect([failing, found]).toEqual([failing, []]);
  }
});

test("R14 a new version of the service, of which only unknown keys see the text at first, is no leak", async () => {
  const { SVC_KEY_ACTIVE = "" } = probeKeys;
  for (let from = 2; from <= 12; from++) {
    const change = on401((reply, { ref, number }) => {
      const isNew = number >= from + 12 || (number >= from && ref === "unknown");
      if (isNew) setIn(reply, "body.error.message", "No key is valid.");
    });
    const { found } = await compare(change, 90, { SVC_KEY_ACTIVE });
    expect([from, found]).toEqual([from, []]);
  }
});

test("R14 a difference says that a node which takes its key by the hash looks alike", async () => {
  const { notes } = await compare(
    on401((reply, { ref }) => setIn(reply, "headers.X-Leak", `${ref === "expired"}`)),
  );
  expect(notes).toMatch(/by their hash.* Another key for its outcome shows it\.$/m);
});

test("R14 a missing key whose response differs from all others is found", async () => {
  const change = on401((reply, { ref }) =>
    setIn(reply, "body.error.message", ref === "none" ? "None." : "Wrong key."),
  );
  expect((await compare(change)).found).toEqual(["401.missing $.error.message"]);
});

test("only a 401 is sent again as one, and only a key that works is sent twice", async () => {
  const swapped = await compare((reply, { ref }) => {
    if (ref === "active" || ref === "live") {
      Object.assign(reply, { status: 401, body: { error: { code: "later", message: "Later." } } });
    }
    if (ref === "unknown") reply.status = 200;
  });
  expect(["active", "live", "unknown"].map(swapped.times)).toEqual([1, 1, 0]);
});

test("R14 without the requests for a suspect, nothing is a difference, and a note says that they ran out", async () => {
  const change = on401((reply, { ref }) => setIn(reply, "headers.X-Leak", String(ref === "expired")));
  for (const most of [20, 25, 30]) {
    const { found, notes, all } = await compare(change, most);
    expect([most, found, all]).toEqual([most, [], most]);
    expect(notes).toContain(`The requests ran out: --max-requests is ${most}.`);
  }
  expect((await compare(change, 40)).found).toEqual(["401.expired X-Leak"]);
});

test.each([20, 25, 30])(
  "R14 a signal at request %i, before the end of the requests, proves nothing",
  async (last) => {
    const stopping = new AbortController();
    const { send } = probed((reply, { ref, number }) => {
      if (reply.status === 401) setIn(reply, "headers.X-Leak", String(ref === "expired"));
      if (number === last) stopping.abort("SIGINT");
    });
    const { differences, notes } = await compareWithContract(send, {
      ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys, stop: stopping.signal },
      ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
    });
    expect(differences).toEqual([]);
    expect(notes.join("\n")).toContain("because it was stopped by SIGINT: ");
  },
);

test.each([
  [
    "Abgelaufen: ungültig",
    [
      [
        expect.stringMatching(/^"bytes that are not UTF-8, with the hash \w{16}", as/),
        expect.stringMatching(/hash/),
      ],
    ],
  ],
  ["Ungültig", []],
])(
  "R14 bodies that are not UTF-8 are compared by their bytes, which are not shown: %s",
  async (text, found) => {
    const change = on401((reply, { ref }) => {
      if (ref !== "none") reply.bytes = Buffer.from(ref === "expired" ? text : "Ungültig", "latin1");
    });
    const { differences } = await compare(change);
    const ofBytes = differences.filter(
      ({ rules, outcome }) => rules.includes("R14") && outcome === "401.expired",
    );
    expect(ofBytes.map(({ expected, found }) => [expected, found])).toEqual(found);
  },
);

test("R14 a body in UTF-8 is shown, also one whose text is about UTF-8", async () => {
  const { differences } = await compare(
    on401((reply, { ref }) => {
      reply.bytes = ref === "expired" ? "not UTF-8: b" : "not UTF-8: a";
    }),
  );
  const ofExpired = differences.filter(
    ({ rules, outcome }) => rules.includes("R14") && outcome === "401.expired",
  );
  expect(ofExpired.map(({ found }) => found)).toEqual(['"not UTF-8: b"']);
});

test("R14 a trailer of one cause is found", async () => {
  const { send } = probed(() => {});
  const { differences } = await compareWithContract(
    async (apiKey) => {
      const raw = await send(apiKey);
      if (apiKey !== probeKeys.SVC_KEY_REVOKED) return raw;
      return { ...raw, trailers: [["X-Reason", "revoked"]] };
    },
    {
      ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
      ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
    },
  );
  expect(differences).toMatchObject([
    { outcome: "401.revoked", at: "trailer X-Reason", expected: "no such header, as for 401.unknown" },
  ]);
});

test("R14 R27 JSON with too many levels is told as such", async () => {
  const deep = JSON.stringify({ error: { code: "unauthorized", message: "No valid key." } });
  const { differences } = await compare(
    on401((reply, { ref }) => {
      if (ref === "expired") reply.bytes = `${deep.slice(0, -2)},"x":${"[".repeat(500)}${"]".repeat(500)}}}`;
    }),
  );
  expect(differences).toContainEqual(
    expect.objectContaining({ outcome: "401.expired", at: "body", found: "JSON with more than 64 levels" }),
  );
});

const unsplitChallenge = 'Basic realm="a", ApiKey realm="b"';
test.each<[form: string, change: Change, at: string, expected: string, found: string]>([
  [
    "an error that is a text",
    (reply, { ref }) => {
      if (ref === "expired") setIn(reply, "body.error", "expired");
    },
    ...(["$.error", "a mapping, as for 401.unknown", '"expired"'] as const),
  ],
  [
    "a body that is no JSON",
    (reply, { ref }) => {
      if (ref === "expired") reply.bytes = "Expired.";
    },
    ...(["$", "a mapping, as for 401.unknown", "no JSON"] as const),
  ],
  [
    "another scheme with fewer parameters",
    (reply, { ref }) => {
      const challenge = ref === "expired" ? 'Basic realm="x"' : 'ApiKey realm="x", error="e"';
      setIn(reply, "headers.WWW-Authenticate", challenge);
    },
    ...([
      "WWW-Authenticate",
      '"ApiKey realm=\\"x\\", error=\\"e\\"", as for 401.unknown',
      '"Basic realm=\\"x\\""',
    ] as const),
  ],
  [
    "two challenges in place of one",
    (reply, { ref }) => {
      const challenge = ref === "expired" ? unsplitChallenge : 'ApiKey realm="api"';
      setIn(reply, "headers.WWW-Authenticate", challenge);
    },
    ...([
      "WWW-Authenticate",
      '"ApiKey realm=\\"api\\"", as for 401.unknown',
      JSON.stringify(unsplitChallenge),
    ] as const),
  ],
])("R14 %s is shown whole, and not as parts that are missing", async (_form, change, at, expected, found) => {
  const { differences } = await compare(on401(change));
  const ofR14 = differences.filter(({ rules }) => rules.includes("R14"));
  expect(ofR14).toMatchObject([{ outcome: "401.expired", at, expected, found }]);
});

test.each<[what: string, usual: string, own: string, expected: string, found: string]>([
  ["a line end and a tab", "No key", "No\n\tkey", "No key", String.raw`No\n\tkey`],
  ["a space that does not break", "No key", "No\u00a0key", "No key", String.raw`No\u{a0}key`],
  ["a character without width", "No key", "No \u200bkey", "No key", String.raw`No \u{200b}key`],
  ["a letter of a language", "Nicht gültig", "Nicht bekannt", "Nicht gültig", "Nicht bekannt"],
])("R14 %s is shown by its code point where it matters", async (_what, usual, own, expected, found) => {
  const { differences } = await compare(
    on401((reply, { ref }) => setIn(reply, "body.error.message", ref === "expired" ? own : usual)),
  );
  expect(differences).toMatchObject([
    { outcome: "401.expired", expected: `"${expected}", as for 401.unknown`, found: `"${found}"` },
  ]);
});

test("R14 messages that differ only after their first 80 characters are shown as different", async () => {
  const start = "No valid key. ".repeat(6);
  const { differences } = await compare(
    on401((reply, { ref }) =>
      setIn(reply, "body.error.message", `${start}${ref === "expired" ? "Expired." : ""}`),
    ),
  );
  expect(differences).toMatchObject([
    { outcome: "401.expired", at: "$.error.message", found: "another value, which begins in the same way" },
  ]);
});

test("R14 the order of the headers is listed or found, next to a header whose value varies", async () => {
  const reversed = (reply: Reply) => {
    const { "Content-Type": type = "", ...others } = reply.headers;
    reply.headers = { ...others, "Content-Type": type };
  };
  const withTrace = (isReversed: (presented: Presented) => boolean) =>
    on401((reply, presented) => {
      setIn(reply, "headers.X-Trace", id(presented.number));
      if (isReversed(presented)) reversed(reply);
    });
  const { open } = await compare(withTrace(({ number }) => number % 2 === 0));
  expect(open).toEqual(["headers"]);
  const leak = await compare(withTrace(({ ref }) => ref === "revoked"));
  expect(leak.found).toEqual(["401.revoked headers"]);
});

test("R14 what was not compared with the other causes agrees only in part", async () => {
  const run = async (misbehave: Misbehave, maxRequests?: number) => {
    const { outcomes } = await compareWithContract(probed(misbehave).send, {
      ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys, maxRequests },
      ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
    });
    return Object.fromEntries(outcomes.map(({ outcome, result, reason }) => [outcome, [result, reason]]));
  };
  const once = await run((reply, { ref, count }) => {
    if (ref === "expired" && count === 2) reply.status = 502;
  });
  expect(once["401.expired"]?.[0]).toBe("agrees_in_part");
  expect(await run(() => {}, 9)).toMatchObject({
    "401.malformed": ["agrees_in_part", "R14 was not judged: the requests ran out: --max-requests is 9"],
    "401.expired": ["agrees_in_part", "R14 was not judged: the requests ran out: --max-requests is 9"],
  });
});

test("R15 an unknown key with the other prefix that was not sent leaves its outcome in part", async () => {
  const { send } = probed(() => {});
  const { outcomes } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys, maxRequests: 14 },
    ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  expect(outcomes.find(({ outcome }) => outcome === "401.unknown")).toMatchObject({
    result: "agrees_in_part",
    reason: "R15 was not judged: the requests ran out: --max-requests is 14",
  });
});

test("R14 each unknown key is a new key", async () => {
  const keys: (string | undefined)[] = [];
  const { send } = probed((reply, { ref }) => {
    if (ref === "unknown") setIn(reply, "body.error.message", "Unknown.");
  });
  await compareWithContract(
    async (apiKey) => {
      keys.push(apiKey);
      return send(apiKey);
    },
    {
      ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
      ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
    },
  );
  const known: readonly (string | undefined)[] = Object.values(probeKeys);
  const unknown = keys.filter((key) => key?.startsWith("SVC_") === true && !known.includes(key));
  // Two in pass 1, two in pass 2, one in pass 3, and eight at the end.
  expect(new Set(unknown).size).toBe(13);
});

test("R14 one cause with 401s, and an id in them, is compared with nothing", async () => {
  const { notes } = await compare((reply, { ref, number }) => {
    if (reply.status !== 401) return;
    setIn(reply, "body.error.id", `id-${number}`);
    if (ref !== "none") reply.status = 403;
  });
  expect(notes).not.toContain("Compared between");
});

const variedMembers: Readonly<Record<string, (draw: () => number, number: number) => object>> = {
  "a new id": (draw) => ({ id: draw().toString(16).padStart(8, "0") }),
  "an id of letters and digits before a sign": (draw) => ({
    message: `No valid key. See ${draw().toString(36)}/`,
  }),
  "two ids with a sign between them": (draw) => ({ id: `${draw().toString(36)}/${draw().toString(36)}` }),
  "a number": (draw) => ({ id: draw() }),
  "a date": (_, number) => ({ at: new Date(1_772_442_000_000 + 1000 * number).toUTCString() }),
  "a node": (_, number) => ({ node: `n${number % 3}` }),
};

const writings: Readonly<Record<string, (text: string) => string>> = {
  "an escape": (text) => text.replace("unauthorized", "\\u0075nauthorized"),
  "an escape in a name": (text) => text.replace('"message"', '"\\u006dessage"'),
  "an escape in what varies": (text) => text.replace(/([\w/])("\}+)$/, escapedEnd),
  "a space": (text) => text.replace('{"error":', '{"error": '),
  "a space at the end": (text) => `${text} `,
  "a trailing newline": (text) => `${text}\n`,
  "another order": (text) => text.replace(/("code":[^,]*),("message":"[^"]*")/, "$2,$1"),
};

function escapedEnd(_: string, last: string, end: string): string {
  const written = last === "/" ? "\\/" : `\\u00${last.charCodeAt(0).toString(16)}`;
  return written + end;
}

describe.each(Object.keys(variedMembers))("R14 the bytes of a 401, next to %s,", (varied) => {
  test.each(Object.keys(writings))("never agree with %s for one cause", async (writing) => {
    for (let seed = 0; seed < 4; seed++) {
      const draw = randomStream(seed, "bytes");
      const { send } = probed((reply, { ref, number }) => {
        if (reply.status !== 401) return;
        const error = {
          code: "unauthorized",
          message: "No valid key.",
          ...variedMembers[varied]?.(draw, number),
        };
        const text = JSON.stringify({ error });
        reply.bytes = ref === "expired" ? (writings[writing]?.(text) ?? text) : text;
        isWritten ||= ref === "expired" && reply.bytes !== text;
      });
      let isWritten = false;
      const { differences, unjudged } = await compareWithContract(send, {
        ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
        ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
      });
      const ofR14 = [...differences.flatMap(({ rules }) => rules), ...unjudged.map(() => "R14")];
      expect([seed, ofR14.includes("R14")]).toEqual([seed, isWritten]);
    }
  });
});
