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
    // The fourth request without a key is a control.
    if (ref === wrongRef && count > 1 && !(ref === "none" && count === 4)) change(reply);
  });
  const url = "https://api.example/v1/relying-party/me";
  const options = { url, env: probeKeys, probeLimits: false, unknownKey: unknownSecret };
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
  ["active", "200.test", { status: 500, body: "no" }, "status", /^500$/],
  ["active", "200.test", { status: 0 }, "connection", /^nothing came$/],
  ["active", "200.test", { headers: { "Content-Type": "text/html" }, bytes: "<html>" }, "body", /HTML page/],
])("the second request for %s is judged: %s, %j", async (ref, outcome, reply, at, found) => {
  const { differences, outcomes } = await compareTwice(ref, (right) => Object.assign(right, reply));
  expect(differences).toContainEqual(
    expect.objectContaining({ outcome, at, request: 2, found: expect.stringMatching(found) }),
  );
  expect(outcomes.filter(({ result }) => result === "differs").map((one) => one.outcome)).toEqual([outcome]);
});

test("R24 R2 the second response to a key counts one more, for the same organization", async () => {
  const change: Misbehave = (reply) => {
    setIn(reply, "body.data.usage.today", 7);
    setIn(reply, "body.data.organization.id", "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b5");
  };
  const { differences } = await compareTwice("active", (reply) => change(reply, {} as never));
  expect(differences.map(({ outcome, at, request }) => [outcome, at, request])).toEqual([
    ["200.test", "$.data.usage.today", 2],
    ["200.test", "$.data.organization.id", 2],
  ]);
});

test("R24 a count that stays 1 agrees only in part without a Date that rules out a new day", async () => {
  const { send } = probed((reply, { ref }) => {
    if (ref === "active") setIn(reply, "body.data.usage.today", 1);
  });
  const { differences, outcomes } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
    ...{ probeLimits: false, unknownKey: unknownSecret },
  });
  expect(differences).toEqual([]);
  expect(outcomes.find(({ outcome }) => outcome === "200.test")).toMatchObject({
    result: "agrees_in_part",
    reason:
      "usage.today was not compared: it is 1 twice, and without a Date, a new day may have begun in between",
  });
});

test("R24 counts are not compared across a request of the key that got no 200", async () => {
  const { send } = probed((reply, { ref, count }) => {
    if (ref === "active" && count === 2) Object.assign(reply, { status: 500 });
    if (ref === "active" && count === 3) setIn(reply, "body.data.organization.id", "another");
  });
  const { differences } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE } },
    ...{ probeLimits: true, unknownKey: unknownSecret },
  });
  const found = differences.map(({ rules, at }) => `${rules.join(", ")} ${at}`);
  expect(found).toContain("R2 $.data.organization.id");
  expect(found.filter((one) => one.includes("usage"))).toEqual([]);
});

test.each([
  ["of one minute", "09:00:01", "09:00:59", 1, "differs", undefined],
  [
    "of two minutes",
    "09:00:59",
    "09:01:01",
    0,
    "agrees_in_part",
    "usage.today was not compared: it is 1 twice, in two minutes, and a new day may have begun in between",
  ],
])(
  "R24 a count that stays 1 is a difference only if its dates are of one minute: %s",
  async (_of, first, second, found, result, reason) => {
    const { send } = probed((reply, { ref, count }) => {
      if (ref !== "active") return;
      setIn(reply, "body.data.usage.today", 1);
      reply.headers.Date = `Mon, 02 Mar 2026 ${count === 1 ? first : second} GMT`;
    });
    const { differences, outcomes } = await compareWithContract(send, {
      ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
      ...{ probeLimits: false, unknownKey: unknownSecret },
    });
    expect(differences).toHaveLength(found);
    const of200 = outcomes.find(({ outcome }) => outcome === "200.test");
    expect([of200?.result, of200?.reason]).toEqual([result, reason]);
  },
);

test("a difference of both responses is reported once, with the first request", async () => {
  const { send } = probed((reply, { ref }) => {
    if (ref === "revoked") setIn(reply, "body.error.code", "key_revoked");
    if (ref === "active") setIn(reply, "body.data.environment", "live");
  });
  const { differences } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
    ...{ probeLimits: false, unknownKey: unknownSecret },
  });
  const shown = differences.filter(({ rules }) => !rules.includes("R14"));
  expect(shown.map(({ outcome, at, request }) => [outcome, at, request])).toEqual([
    ["200.test", "$.data.environment", undefined],
    ["401.revoked", "$.error.code", undefined],
  ]);
});

test("R24 the requests of a key in two variables are counted together, and a note names them", async () => {
  const active = probeKeys.SVC_KEY_ACTIVE as string;
  const { differences, notes } = await compareWithContract(probed(() => {}).send, {
    ...{ url: "https://api.example", env: { SVC_KEY_ACTIVE: active, SVC_KEY_WRONG_SCOPE: active } },
    ...{ probeLimits: false, unknownKey: unknownSecret },
  });
  expect(differences).toEqual([]);
  expect(notes).toContain("SVC_KEY_ACTIVE and SVC_KEY_WRONG_SCOPE have the same key.");
});

test("a variable with only spaces in it is as good as none", async () => {
  const { send } = probed(() => {});
  const { notes } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", probeLimits: false, unknownKey: unknownSecret },
    env: {
      SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE,
      SVC_KEY_LEGACY: allProbeKeys.SVC_KEY_LEGACY,
      SVC_KEY_LEGACY_LIVE: " ",
    },
  });
  expect(notes).toEqual([]);
});

test.each<[path: string, rules: string[]]>([
  ["limits.per_minute", []],
  ["limits.per_day", []],
  ["organization.name", []],
  ["organization.type", []],
  ["scopes", ["R4"]],
])("%s of one key that changes is told, and agrees only in part", async (path, rules) => {
  const change = (reply: Reply) => {
    const value =
      path === "scopes" ? ["attestations:read", "b:read"] : path.startsWith("limits") ? 70 : "cooperative";
    setIn(reply, `body.data.${path}`, value);
  };
  const { differences, outcomes, notes, verdict } = await compareTwice("active", change);
  const found = differences.filter(({ at }) => at === `$.data.${path}`).map((one) => one.rules.join());
  expect(found).toEqual(expect.arrayContaining(rules));
  const result = outcomes.find(({ outcome }) => outcome === "200.test")?.result;
  const isDifferent = rules.length > 0;
  expect(isDifferent ? result : notes.join()).toContain(isDifferent ? "differs" : path);
  expect([result, verdict]).not.toContain("agrees");
});
