import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../src/server/index.js";
import { control } from "../support/call-control.js";
import { runs } from "../support/property-seed.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { type ReplicaServer, startReplica } from "../support/replicas.js";
import { headerOf, mePath, type Sent } from "../support/send.js";
import { sendOnSocket } from "../support/send-on-socket.js";

const scenario = "announced-endpoints";
const options = { frozen: true, now: "2026-03-02T09:00:00Z" } as const;

// The property: whatever is asked of which replica, the responses are those of one server that is asked the same.

type Operation =
  | {
      readonly ask: Omit<Sent, "headers"> & { readonly headers?: Record<string, string> };
      readonly key?: string | undefined;
      readonly inside?: number | undefined;
    }
  | {
      readonly call: string;
      readonly body?: object | undefined;
      readonly inside?: number | undefined;
      readonly makes?: string;
    };

const refs = ["lending", "made-1", "made-2"] as const;
const anyRef = fc.constantFrom(...refs);
const inside = fc.constantFrom(undefined, undefined, undefined, 0, 1);

const ask = (sent: Sent): Operation => ({ ask: sent as never });
const request: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ ask: fc.constantFrom({}, { method: "HEAD" }), key: anyRef, inside }) },
  fc.constantFrom(
    ask({}),
    ask({ headers: { "x-api-key": "SVC_test_sbx00000000000000000000000000000" } }),
    ask({ path: "/nothing", method: "POST", body: "x" }),
    ask({ path: "/i/AAAAAAAAAAAA/v1/relying-party/me" }),
  ),
  fc.record({
    ask: fc.constantFrom<Sent>(
      { path: "/v1/relying-party/consent-requests", method: "POST", body: "{}" },
      {
        path: "/v1/relying-party/consent-requests",
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "one" },
        body: '{"farmer_id":"SVC_live_abcdefghij"}',
      },
    ) as fc.Arbitrary<never>,
    key: anyRef,
    inside,
  }),
);

const call = (route: string, body?: object): fc.Arbitrary<Operation> =>
  fc.record({ call: fc.constant(route), body: fc.constant(body), inside }) as fc.Arbitrary<Operation>;
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc
    .record({ ref: fc.constantFrom("made-1", "made-2"), environment: fc.constantFrom("test", "live") })
    .map(({ ref, environment }) => ({
      call: "POST /keys",
      body: { ref, environment, name: "Made", organization: "harvest-bank" },
      makes: ref,
    })),
  anyRef.map((ref) => ({ call: `POST /keys/${ref}/revoke`, body: {} })),
  anyRef.map((ref) => ({ call: `POST /keys/${ref}/rotate`, body: { as: "made-2" }, makes: "made-2" })),
  call("POST /clock/advance", { by: "25s" }),
  call("PUT /assumptions", { minute_window: "sliding", rate_limit_headers: "draft" }),
  call("PUT /assumptions", { profile: "varied" }),
  call("PUT /assumptions", { me_scope: "no such scope" }),
  call("PUT /faults", { faults: [{ when: { every: 3 }, then: { status: 503 } }] }),
  call("PUT /faults", { faults: [] }),
  call("POST /reset", {}),
  call("DELETE /requests"),
  call("POST /send", { key: "lending" }),
  call("POST /story/next", {}),
  fc.constantFrom<Operation>(
    { call: "POST /instances", body: { scenario: "rate-limited", seed: 3, ...options } },
    { call: "DELETE /instances/0" },
    { call: "PUT /scenario", body: { name: "key-states" } },
    // It has a timeline.
    { call: "PUT /scenario", body: { name: "live-suspended" } },
  ),
  ...[
    "state",
    "keys",
    "requests",
    "clock",
    "upcoming",
    "report",
    "records",
    "records/consent-requests",
    "request-checks",
    "organizations",
  ].map((what) => call(`GET /${what}`)),
);

/** Somebody who asks servers, and knows the keys and instances that were made there. */
function clientOf(
  servers: () => { readonly port: number; readonly controlUrl: string | undefined },
  secretOf: (ref: string) => string,
) {
  const secrets = new Map<string, string>();
  const ids: string[] = [];
  const plain = (text: string) => {
    let shown = text;
    for (const [at, id] of ids.entries()) shown = shown.replaceAll(id, `<instance ${at}>`);
    return shown
      .replace(/"(fingerprint|secret|token|claim_url)":"[^"]*"/g, '"$1":"…"')
      .replace(/http:\/\/127.0.0.1:\d+/g, "<server>")
      .replace(/"(duration_ms|idle_seconds)":[\d.e-]+/g, '"$1":0')
      .replace(/"created_at":"[^"]*"/g, '"created_at":"…"');
  };
  return {
    plain,
    async run(operation: Operation): Promise<unknown> {
      const { port, controlUrl = "" } = servers();
      const id = operation.inside === undefined ? undefined : ids[operation.inside];
      if ("ask" in operation) {
        const { key, ask: sent } = operation;
        const headers = {
          ...sent.headers,
          ...(key !== undefined && { "x-api-key": secrets.get(key) ?? secretOf(key) }),
        };
        const path = sent.path ?? mePath;
        const seen = await sendOnSocket(port)({
          ...sent,
          headers,
          path: id === undefined ? path : `/i/${id}${path}`,
        });
        const requestId = headerOf(seen, "x-request-id");
        return {
          status: seen.status,
          requestId,
          body: plain(seen.body),
          headers: seen.headers.map(([name]) => name),
        };
      }
      const base = id === undefined ? controlUrl : controlUrl.replace("/__sandbox", `/i/${id}/__sandbox`);
      const route = operation.call.replace("/instances/0", `/instances/${ids[0]}`);
      const { status, body } = await control(base, route, operation.body);
      if (operation.makes !== undefined && status === 201) secrets.set(operation.makes, body.data.secret);
      if (operation.call === "POST /instances" && status === 201) ids.push(body.data.id);
      return { status, body: comparable(JSON.parse(plain(JSON.stringify(body ?? null)))) };
    },
  };
}

// A snapshot leaves out what clients have seen.
const ofClients = ["sent-again-after-rejection", "old-key-after-replacement-seen"];

// biome-ignore lint/suspicious/noExplicitAny: any response
function comparable(value: any): any {
  if (Array.isArray(value)) {
    const members = value
      .filter((one) => !ofClients.includes(one) && !ofClients.includes(one?.id))
      .map((one) => comparable(one));
    // The keys of a sandbox that went on from a snapshot stand by their organizations.
    return members.every((one) => typeof one?.ref === "string")
      ? members.sort((one, other) => (one.ref < other.ref ? -1 : 1))
      : members;
  }
  if (typeof value !== "object" || value === null) return value;
  // A replica counts the traffic of the instances that it has loaded.
  const members = Object.entries(value).filter(([name]) => name !== "repeats" && name !== "traffic");
  return Object.fromEntries(members.map(([name, member]) => [name, comparable(member)]));
}

async function lookAt(
  { controlUrl }: { readonly controlUrl: string | undefined },
  plain: (text: string) => string,
  what: readonly string[],
) {
  const looks = what.map(async (what) => {
    const { body } = await control(controlUrl, `GET /${what}`);
    return comparable(JSON.parse(plain(JSON.stringify(body))));
  });
  return Promise.all(looks);
}

test.skipIf(noRedis)("any replica responds as one server does, and all replicas end alike", async () => {
  const redis = await startRedis(["--appendonly", "no"]);
  onTestFinished(redis.close);
  const sequences = fc.array(fc.tuple(fc.oneof(request, request, operation), fc.nat(2)), {
    minLength: 5,
    maxLength: 40,
  });
  let count = 0;
  const property = fc.asyncProperty(sequences, async (steps) => {
    count += 1;
    const prefix = `run-${count}:`;
    const open = () => startReplica(redis.url, scenario, { ...options, prefix });
    const replicas = [await open(), await open(), await open()];
    const single = await startServer({ scenario, ...options });
    const port = Number(new URL(single.url).port);
    const lending = single.sandbox.secret("lending");
    const secretOf = (ref: string) => (ref === "lending" ? lending : "SVC_test_none");
    try {
      let turn = 0;
      const many = clientOf(() => replicas[turn] as ReplicaServer, secretOf);
      const one = clientOf(() => ({ port, controlUrl: single.controlUrl }), secretOf);
      // With a store, the server's report does not count requests to instances.
      const isCounted = steps.every(([step]) => step.inside === undefined);
      const what = ["state", "keys", "requests", "story", "instances", ...(isCounted ? ["report"] : [])];
      for (const [step, replica] of steps) {
        turn = replica;
        const [seen, expected] = [await many.run(step), await one.run(step)];
        const isReport = "call" in step && step.call === "GET /report" && !isCounted;
        if (!isReport) expect({ step, seen }).toEqual({ step, seen: expected });
      }
      const expected = await lookAt(single, one.plain, what);
      replicas.push(await open());
      for (const replica of replicas) expect(await lookAt(replica, many.plain, what)).toEqual(expected);
    } finally {
      await Promise.all([single, ...replicas].map((server) => server.close()));
    }
  });
  await fc.assert(property, runs(6));
});
