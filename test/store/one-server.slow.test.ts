import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../src/server/index.js";
import { runs } from "../support/property-seed.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { startReplica } from "../support/replicas.js";
import { headerOf, mePath } from "../support/send.js";
import { sendOnSocket } from "../support/send-on-socket.js";

const scenario = "announced-endpoints";
const options = { frozen: true, now: "2026-03-02T09:00:00Z" } as const;

// The property: whatever is asked of which replica, the responses are those of one server that is asked the same.

/** A call of the API or of the control plane. */
interface Operation {
  readonly call: string;
  readonly body?: object | undefined;
  readonly headers?: Record<string, string>;
  /** The ref of the key that is sent. */
  readonly key?: string | undefined;
  /** Which of the instances that were made; default: the server's own sandbox. */
  readonly inside?: number | undefined;
  /** The ref of the key that it makes. */
  readonly makes?: string;
}

const refs = ["lending", "made-1", "made-2"] as const;
const anyRef = fc.constantFrom(...refs);
const anywhere = (operations: fc.Arbitrary<Operation>, key: fc.Arbitrary<string | undefined>) =>
  fc
    .tuple(operations, key, fc.constantFrom(undefined, undefined, undefined, 0, 1))
    .map(([one, key, inside]): Operation => ({ ...one, key, inside }));

const me = `GET ${mePath}`;
const consents = "POST /v1/relying-party/consent-requests";
const once = { "idempotency-key": "one" };
const request = fc.oneof(
  { weight: 5, arbitrary: anywhere(fc.constantFrom({ call: me }, { call: `HEAD ${mePath}` }), anyRef) },
  fc.constantFrom<Operation>(
    { call: me },
    { call: me, headers: { "x-api-key": "SVC_test_sbx00000000000000000000000000000" } },
    { call: "POST /nothing", body: {} },
    { call: "GET /i/AAAAAAAAAAAA/v1/relying-party/me" },
  ),
  anywhere(
    fc.constantFrom<Operation>(
      { call: consents, body: {} },
      { call: consents, headers: once, body: { farmer_id: "SVC_live_abcdefghij" } },
    ),
    anyRef,
  ),
);

const control = (route: string, body?: object): Operation => ({
  call: route.replace(" ", " /__sandbox"),
  body,
});
const looks = ["state", "keys", "requests", "clock", "upcoming", "report", "records", "organizations"];
const operation = fc.oneof(
  fc
    .record({ ref: fc.constantFrom("made-1", "made-2"), environment: fc.constantFrom("test", "live") })
    .map((key) => ({
      ...control("POST /keys", { ...key, name: "Made", organization: "harvest-bank" }),
      makes: key.ref,
    })),
  anyRef.map((ref) => control(`POST /keys/${ref}/revoke`, {})),
  anyRef.map((ref) => ({ ...control(`POST /keys/${ref}/rotate`, { as: "made-2" }), makes: "made-2" })),
  anywhere(
    fc.constantFrom(
      control("POST /clock/advance", { by: "25s" }),
      control("PUT /assumptions", { minute_window: "sliding", rate_limit_headers: "draft" }),
      control("PUT /assumptions", { profile: "varied" }),
      control("PUT /assumptions", { me_scope: "no such scope" }),
      control("PUT /faults", { faults: [{ when: { every: 3 }, then: { status: 503 } }] }),
      control("PUT /faults", { faults: [] }),
      control("POST /reset", {}),
      control("DELETE /requests"),
      control("POST /send", { key: "lending" }),
      control("POST /story/next", {}),
      ...looks.map((what) => control(`GET /${what}`)),
      control("GET /records/consent-requests"),
      control("GET /request-checks"),
    ),
    fc.constant(undefined),
  ),
  fc.constantFrom(
    control("POST /instances", { scenario: "rate-limited", seed: 3, ...options }),
    control("DELETE /instances/0"),
    control("PUT /scenario", { name: "key-states" }),
    // It has a timeline.
    control("PUT /scenario", { name: "live-suspended" }),
  ),
);

/** Somebody who asks servers, and knows the keys and instances that were made there. */
function clientOf(lending: string, hasInstances: boolean) {
  const secrets = new Map([["lending", lending]]);
  const ids: string[] = [];
  const plain = (text: string) =>
    ids
      .reduce((shown, id, at) => shown.replaceAll(id, `<instance ${at}>`), text)
      .replace(/"(fingerprint|secret|token|claim_url|created_at)":"[^"]*"/g, '"$1":"…"')
      .replace(/http:\/\/127.0.0.1:\d+/g, "<server>")
      .replace(/"(duration_ms|idle_seconds)":[\d.e-]+/g, '"$1":0')
      // With a store, the own sandbox starts its ids again without regard to instances.
      .replace(/req_[0-9a-f]{24}/g, hasInstances ? "req_…" : "$&");
  return async (port: number, { call, body, headers, key, inside, makes }: Operation) => {
    const [method = "", route = ""] = call.replace("/instances/0", `/instances/${ids[0]}`).split(" ");
    const id = inside === undefined ? undefined : ids[inside];
    const seen = await sendOnSocket(port)({
      method,
      path: id === undefined ? route : `/i/${id}${route}`,
      headers: {
        ...headers,
        ...(method !== "GET" && { "content-type": "application/json" }),
        ...(key !== undefined && { "x-api-key": secrets.get(key) ?? "SVC_test_none" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data } = seen.body.startsWith("{") ? JSON.parse(seen.body) : {};
    if (makes !== undefined && seen.status === 201) secrets.set(makes, data.secret);
    if (call === "POST /__sandbox/instances" && seen.status === 201) ids.push(data.id);
    const text = plain(seen.body);
    return {
      status: seen.status,
      requestId: plain(headerOf(seen, "x-request-id") ?? ""),
      headers: seen.headers.map(([name]) => name),
      body: text.startsWith("{") ? comparable(JSON.parse(text)) : text,
    };
  };
}

// biome-ignore lint/suspicious/noExplicitAny: any response
function comparable(value: any): any {
  if (Array.isArray(value)) {
    const members = value.map((one) => comparable(one));
    // The keys of a sandbox that continued from a snapshot are in the order of their organizations.
    return members.every((one) => typeof one?.ref === "string")
      ? members.sort((one, other) => (one.ref < other.ref ? -1 : 1))
      : members;
  }
  if (typeof value !== "object" || value === null) return value;
  // A replica counts the traffic and the cost of the instances that it has loaded.
  const counted = ["repeats", "traffic", "account"];
  const members = Object.entries(value).filter(([name]) => !counted.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, comparable(member)]));
}

test.skipIf(noRedis)("any replica responds as one server does, and all replicas end alike", async () => {
  const redis = await startRedis(["--appendonly", "no"]);
  onTestFinished(redis.close);
  const steps = fc.tuple(fc.oneof(request, request, operation), fc.nat(2));
  let count = 0;
  const property = fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (sequence) => {
    count += 1;
    const open = () => startReplica(redis.url, scenario, { ...options, prefix: `run-${count}:` });
    const replicas = [await open(), await open(), await open()];
    const single = await startServer({ scenario, ...options });
    const port = Number(new URL(single.url).port);
    const lending = single.sandbox.secret("lending");
    const hasInstances = sequence.some(([{ call }]) => call === "POST /__sandbox/instances");
    const [many, one] = [clientOf(lending, hasInstances), clientOf(lending, hasInstances)];
    // With a store, the server's report does not count requests to instances.
    const isCounted = sequence.every(([step]) => step.inside === undefined);
    try {
      for (const [step, replica] of sequence) {
        const seen = await many(replicas[replica]?.port as number, step);
        const expected = await one(port, step);
        if (isCounted || !step.call.endsWith("/report"))
          expect({ step, seen }).toEqual({ step, seen: expected });
      }
      replicas.push(await open());
      for (const what of [
        "state",
        "keys",
        "requests",
        "story",
        "instances",
        ...(isCounted ? ["report"] : []),
      ]) {
        const { body: expected } = await one(port, control(`GET /${what}`));
        for (const replica of replicas)
          expect((await many(replica.port, control(`GET /${what}`))).body).toEqual(expected);
      }
    } finally {
      await Promise.all([single, ...replicas].map((server) => server.close()));
    }
  });
  await fc.assert(property, runs(6));
});
