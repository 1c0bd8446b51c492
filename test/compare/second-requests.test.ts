import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import {
  allProbeKeys,
  type Misbehave,
  probed,
  probeKeys,
  type Reply,
  setIn,
} from "../support/probed-server.js";

/** Compares a server that does something else from the second request on, with a key, or without one. */
async function compareTwice(wrongRef: string, change: (reply: Reply) => unknown) {
  const { send } = probed((reply, { ref, count }) => {
    if (ref === wrongRef && count > 1) change(reply);
  });
  const url = "https://api.example/v1/relying-party/me";
  const options = { url, env: probeKeys, probeLimits: false, unknownKey: unknownSecret, random: () => 0 };
  return compareWithContract(async (apiKey) => {
    const reply = await send(apiKey);
    return reply.status === 0
      ? { noResponse: "failed" as const, found: "nothing came", hint: "Look." }
      : reply;
  }, options);
}

const ok = { data: {} };
const error = (code: string) => ({ error: { code, message: "No." } });

test.each<[ref: string, outcome: string, reply: Partial<Reply>, at: string, found: RegExp]>([
  ["revoked", "401.revoked", { status: 200, body: ok }, "status", /^200$/],
  ["unknown", "401.unknown", { status: 200, body: ok }, "status", /^200$/],
  ["expired", "401.expired", { status: 403, body: error("access_denied") }, "status", /^403 access_denied$/],
  ["revoked", "401.revoked", { status: 500, body: "no" }, "status", /^500$/],
  [
    "none",
    "401.missing",
    { status: 302, headers: { Location: "/login" } },
    "status",
    /a redirect to the same host/,
  ],
  ["malformed", "401.malformed", { status: 0 }, "connection", /^nothing came$/],
  ["expired", "401.expired", { status: 401, body: error("key_expired") }, "$.error.code", /key_expired/],
])("the second request for %s is judged: %s, %j", async (ref, outcome, reply, at, found) => {
  const { differences, outcomes } = await compareTwice(ref, (right) => Object.assign(right, reply));
  expect(differences).toContainEqual(
    expect.objectContaining({ outcome, at, found: expect.stringMatching(found) }),
  );
  expect(outcomes.filter(({ result }) => result === "differs").map((one) => one.outcome)).toEqual([outcome]);
});

test("R24 R2 the second response to a key counts one more, for the same organization", async () => {
  const change: Misbehave = (reply) => {
    setIn(reply, "body.data.usage.today", 7);
    setIn(reply, "body.data.organization.id", "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b5");
  };
  const { differences, notes } = await compareTwice("active", (reply) => change(reply, {} as never));
  // The count stays the same from the second response on; the organization changed once, which is a note.
  expect(differences.map(({ outcome, at }) => [outcome, at])).toEqual([["200.test", "$.data.usage.today"]]);
  expect(notes.join("\n")).toMatch(/^Not judged: \$\.data\.organization\.id of 200\.test, another one /m);
});

test("R24 a count that stays 1 is a difference, and one that begins anew once is a note", async () => {
  for (const [isNew, found, result] of [
    [() => true, ["$.data.usage.today"], "differs"],
    [(count: number) => count === 2, [], "agrees_in_part"],
  ] as const) {
    let today = 0;
    const { send } = probed((reply, { ref, count }) => {
      if (ref !== "active") return;
      today = isNew(count) ? 1 : today + 1;
      setIn(reply, "body.data.usage.today", today);
    });
    const { differences, outcomes } = await compareWithContract(send, {
      ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
      ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
    });
    expect(differences.map(({ at }) => at)).toEqual(found);
    expect(outcomes.find(({ outcome }) => outcome === "200.test")?.result).toBe(result);
  }
});

test("a difference of both responses is reported once, with the first request", async () => {
  const { send } = probed((reply, { ref }) => {
    if (ref === "revoked") setIn(reply, "body.error.code", "key_revoked");
    if (ref === "active") setIn(reply, "body.data.environment", "live");
  });
  const { differences } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
    ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  const shown = differences.filter(({ rules }) => !rules.includes("R14"));
  expect(shown.map(({ outcome, at }) => [outcome, at])).toEqual([
    ["200.test", "$.data.environment"],
    ["401.revoked", "$.error.code"],
  ]);
});

test("R24 the requests of a key in two variables are counted together", async () => {
  const active = probeKeys.SVC_KEY_ACTIVE as string;
  const { differences } = await compareWithContract(probed(() => {}).send, {
    ...{ url: "https://api.example", env: { SVC_KEY_ACTIVE: active, SVC_KEY_WRONG_SCOPE: active } },
    ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  expect(differences).toEqual([]);
});

test("a variable with only spaces in it is as good as none", async () => {
  const { send } = probed(() => {});
  const { notes } = await compareWithContract(send, {
    ...{
      url: "https://api.example/v1/relying-party/me",
      probeLimits: false,
      unknownKey: unknownSecret,
      random: () => 0,
    },
    env: {
      SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE,
      SVC_KEY_LEGACY: allProbeKeys.SVC_KEY_LEGACY,
      SVC_KEY_LEGACY_LIVE: " ",
    },
  });
  expect(notes).toEqual([]);
});

test.each(["limits.per_minute", "limits.per_day", "organization.name", "organization.type", "scopes"])(
  "%s of one key that changes once is told, and agrees only in part",
  async (path) => {
    const { differences, outcomes, notes, verdict } = await compareTwice("active", (reply) => {
      let value: unknown = "cooperative";
      if (path === "organization.type") value = "insurer";
      if (path === "scopes") value = ["attestations:read", "b:read"];
      if (path.startsWith("limits")) value = 70;
      setIn(reply, `body.data.${path}`, value);
    });
    expect(differences.filter(({ at }) => at === `$.data.${path}`)).toEqual([]);
    expect(notes.join()).toContain(path);
    const result = outcomes.find(({ outcome }) => outcome === "200.test")?.result;
    expect([result, verdict]).not.toContain("agrees");
  },
);

const withoutLimits = Object.fromEntries(
  Object.entries(allProbeKeys).filter(([variable]) => !variable.startsWith("SVC_KEY_RATE")),
);
const faulty = [
  ...["none", "malformed", "unknown", "revoked", "expired", "wrong-scope"],
  ...["live", "retiring", "replacement", "legacy"],
];

async function compareFaults(fails: Parameters<typeof probed>[0]) {
  const { send, refs } = probed(fails);
  const { differences } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: withoutLimits },
    ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  return { outcomes: new Set(differences.map(({ outcome }) => outcome)), sent: refs.length };
}

test.each(faulty)(
  "a fault that begins with the second request for %s is found, with nine more",
  async (wrong) => {
    const right = await compareFaults(() => {});
    const { outcomes, sent } = await compareFaults((reply, { ref, count }) => {
      if (ref === wrong && count > 1) Object.assign(reply, { status: 500, body: error("internal") });
    });
    expect(outcomes.size).toBe(1);
    expect(sent - right.sent).toBeLessThanOrEqual(9);
  },
);

test("faults of all outcomes but one are found with the default of 90 requests", async () => {
  const { outcomes, sent } = await compareFaults((reply, { ref }) => {
    if (!faulty.includes(ref)) return;
    if (reply.status === 200) setIn(reply, "body.data.limits.per_day", "1000");
    else setIn(reply, "body.error.code", "wrong");
  });
  expect(outcomes.size).toBe(faulty.length);
  expect(sent).toBeLessThanOrEqual(90);
});
