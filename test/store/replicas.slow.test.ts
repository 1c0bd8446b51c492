import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Scenario } from "../../src/index.js";
import { type Balancer, noBalancer, startBalancer } from "../support/balancer.js";
import { control } from "../support/call-control.js";
import { conformanceCases } from "../support/conformance-cases.js";
import { comparable, runSteps } from "../support/conformance-script.js";
import { clientInProcess, openSandbox } from "../support/doors.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.js";
import { operatedOver, type ReplicaServer, startReplica } from "../support/replicas.js";
import { startBin } from "../support/running-command.js";
import { mePath, type Sent } from "../support/send.js";
import { sendOnSocket } from "../support/send-on-socket.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Three replicas behind a load balancer, over a Redis, are one sandbox.

let redis: RedisServer;

describe.skipIf(noRedis ?? noBalancer)("three replicas behind a load balancer", () => {
  beforeAll(async () => {
    redis = await startRedis(["--appendonly", "yes"]);
  });
  afterAll(() => redis.close());

  describe("pass the conformance suite", () => {
    const now = "2026-03-02T09:00:00Z";
    let ports: number[] = [];
    let balancer: Balancer;
    afterAll(() => balancer?.close());

    test.each(conformanceCases)("$title", async ({ scenario, steps }) => {
      await redis.command("FLUSHALL");
      const servers: ReplicaServer[] = [];
      for (let index = 0; index < 3; index += 1)
        servers.push(await startReplica(redis.url, scenario, { now, port: ports[index] ?? 0 }));
      try {
        if (ports.length === 0) {
          ports = servers.map(({ port }) => port);
          balancer = await startBalancer(ports);
        }
        const agent = new Agent({ keepAlive: true });
        onTestFinished(() => agent.destroy());
        const send = (sent: Sent) => sendOnSocket(balancer.port, agent)(sent);
        const [{ copy }] = servers as [ReplicaServer];
        const controlUrl = `${balancer.url}/__sandbox`;
        const seen = await runSteps(
          operatedOver(() => controlUrl, copy),
          send,
          steps,
        );
        const sandbox = openSandbox(scenario, { now });
        const expected = await runSteps(sandbox, clientInProcess(sandbox).send, steps);
        expect(seen.map(comparable)).toEqual(expected.map(comparable));
      } finally {
        await Promise.all(servers.map((server) => server.close()));
      }
    });
  });

  describe("as processes of their own", () => {
    const keys = { main: {}, fixed: {}, daily: { limits: { per_minute: 1000, per_day: 137 } } };
    const scenario = {
      version: 1,
      extends: "announced-endpoints",
      organizations: {
        bank: {
          type: "bank",
          keys: Object.fromEntries(
            Object.entries(keys).map(([ref, more]) => [
              ref,
              {
                environment: "test",
                scopes: ["attestations:read", "consents:read", "consents:write"],
                limits: { per_minute: 137, per_day: 100_000 },
                ...more,
              },
            ]),
          ),
        },
        other: { type: "bank", keys: { first: { environment: "test" } } },
      },
    } satisfies Scenario;
    const secret = openSandbox(scenario).secret;

    /** Starts three of them and a balancer; `call` goes through that, `callOn` to one of them. */
    const start = async (minuteWindow: "fixed" | "sliding" = "fixed") => {
      await redis.command("FLUSHALL");
      const file = join(temporaryFolder(), "bank.yaml");
      writeFileSync(file, JSON.stringify({ ...scenario, assumptions: { minute_window: minuteWindow } }));
      const argv = ["start", file, "--frozen", "--port", "0", "--json", "--log", "off", "--store", redis.url];
      const bins = [1, 2, 3].map(() => startBin(argv));
      const lines = await Promise.all(bins.map((bin) => bin.until(/"listening".*\n/)));
      const urls = lines.map((line) => JSON.parse(line).base_url as string);
      const balancer = await startBalancer(urls.map((url) => Number(new URL(url).port)));
      onTestFinished(balancer.close);
      return {
        urls,
        balancer,
        call: (call: string, body?: object) => control(`${balancer.url}/__sandbox`, call, body),
        callOn: (index: number, call: string, body?: object) =>
          control(`${urls[index % 3]}/__sandbox`, call, body),
      };
    };
    const me = async (url: string, key: string) => {
      const response = await fetch(url + mePath, { headers: { "x-api-key": key } });
      await response.arrayBuffer();
      return response.status;
    };

    test.each(["fixed", "sliding"] as const)(
      "R22 R23 R26 let in exactly as many as a limit says, of 1,000 requests by 200 clients (%s minute)",
      async (minuteWindow) => {
        const { balancer, call } = await start(minuteWindow);
        for (const key of ["main", "daily"]) {
          const statuses: number[] = [];
          const client = async () => {
            for (let n = 0; n < 5; n += 1) statuses.push(await me(balancer.url, secret(key)));
          };
          await Promise.all(Array.from({ length: 200 }, client));
          const counts = [200, 429].map((status) => statuses.filter((one) => one === status).length);
          expect(counts).toEqual([137, 863]);
        }
        // The next minute, each again.
        await call("POST /clock/advance", { by: "1m" });
        const again = await Promise.all(Array.from({ length: 200 }, () => me(balancer.url, secret("main"))));
        expect(again.filter((status) => status === 200)).toHaveLength(137);
        const { body } = await call("GET /requests?limit=1");
        expect(body.data).toHaveLength(1);
      },
    );

    test("R32 never have a sixth active key, with fifty administrators at once", async () => {
      const { call } = await start();
      for (let round = 0; round < 10; round += 1) {
        const made = await Promise.all(
          Array.from({ length: 50 }, (_, n) =>
            call("POST /keys", { organization: "other", environment: "test", name: `Key ${round}.${n}` }),
          ),
        );
        const done = made.filter(({ status }) => status === 201);
        const codes = made.filter(({ status }) => status === 409).map(({ body }) => body.error.code);
        expect([done.length, codes.length]).toEqual([4, 46]);
        expect(new Set(codes)).toEqual(new Set(["key_limit_reached"]));
        const { body } = await call("GET /keys?limit=1000");
        const active = body.data.filter(
          (key: { organization: string; status: string; state: string }) =>
            key.organization === "other" && (key.state ?? key.status) === "active",
        );
        expect(active).toHaveLength(5);
        for (const one of done) await call(`POST /keys/${one.body.data.key.ref}/revoke`, {});
      }
    });

    test("make one consent request for one idempotency key, wherever it comes", async () => {
      const { urls, balancer, call } = await start();
      const farmer = (await call("GET /farmers?limit=1")).body.data[0].farmer_id;
      const ask = async (url: string, key: string) => {
        const response = await fetch(`${url}/v1/relying-party/consent-requests`, {
          method: "POST",
          headers: {
            ...{ "x-api-key": secret("main"), "content-type": "application/json" },
            "idempotency-key": key,
          },
          body: JSON.stringify({
            farmer_id: farmer,
            permissions: ["land"],
            purpose: { code: "credit_assessment", text: "To assess your application." },
          }),
        });
        return { status: response.status, id: (await response.json()).data.id as string };
      };
      const first = await ask(urls[0] as string, "loan-1");
      const others = await Promise.all([ask(urls[1] as string, "loan-1"), ask(urls[2] as string, "loan-1")]);
      expect(others).toEqual([first, first]);
      const atOnce = await Promise.all(Array.from({ length: 50 }, () => ask(balancer.url, "loan-2")));
      expect(new Set(atOnce.map(({ id }) => id)).size).toBe(1);
      expect(atOnce[0]?.id).not.toBe(first.id);
    });

    test("R46 leave no key in Redis, not even in its files", async () => {
      const { balancer, callOn, urls } = await start();
      const secrets = Object.keys(keys).map(secret);
      for (let n = 0; n < 6; n += 1) {
        const made = await callOn(n, "POST /keys", {
          organization: "other",
          environment: "test",
          name: `Key ${n}`,
        });
        if (made.status === 201) secrets.push(made.body.data.secret);
      }
      secrets.push((await callOn(0, "POST /keys/first/rotate", { overlap_minutes: 60 })).body.data?.secret);
      const sent = [...secrets.filter((one) => one !== undefined), "SVC_live_SomebodysRealKeyZ9y8x7w6v5u4"];
      for (const one of sent) {
        await me(balancer.url, one);
        const places = {
          authorization: `Bearer ${one}`,
          "user-agent": one,
          origin: `https://${one}.example`,
        };
        await fetch(`${urls[0]}${mePath}?api_key=${one}`, { headers: places });
        await fetch(`${urls[1]}/v1/${one}`, { method: "POST", headers: { "x-api-key": one }, body: one });
        await callOn(2, `GET /keys/${one}`);
        await callOn(2, `PATCH /organizations/${one}`, { status: one });
      }
      const snapshot = await redis.command("HGET", "{svc-sandbox:}:own:state", "snapshot");
      const held = JSON.stringify([
        await redis.command("XRANGE", "{svc-sandbox:}:own:log", "-", "+"),
        String(snapshot),
      ]);
      expect((await redis.command("KEYS", "*")) as string[]).toHaveLength(2);
      expect(held.length).toBeGreaterThan(10_000);
      const files = redis.files();
      for (const one of sent) {
        const tail = one.slice(-12);
        expect([held.includes(tail), files.includes(tail)]).toEqual([false, false]);
      }
    });
  });
});
