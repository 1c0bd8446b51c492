import { describe, expect, onTestFinished, test } from "vitest";
import type { Scenario } from "../../src/index.js";
import { resolveSource } from "../../src/scenario/parse-scenario.js";
import { identityOf, stateText } from "../../src/store/state-format.js";
import { control } from "../support/call-control.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.js";
import { type ReplicaServer, startReplica } from "../support/replicas.js";
import { mePath } from "../support/send.js";
import { startProxy } from "../support/tcp-proxy.js";

/** A server whose store has a name that leads to a primary, and a copy of that. */
async function withCopy() {
  const [primary, copy] = [await startRedis(), await startRedis()];
  const name = await startProxy(primary.port);
  const server = await startReplica(`redis://127.0.0.1:${name.port}`, "key-states", { timeout: 3000 });
  onTestFinished(async () => {
    await server.close(0);
    name.close();
    await primary.close();
    await copy.close();
  });
  await copy.command("REPLICAOF", "127.0.0.1", String(primary.port));
  await expect.poll(() => headIn(copy)).toBe(await headIn(primary));
  return { primary, copy, name, server };
}

const headIn = (redis: RedisServer) => redis.command("HGET", "{svc-sandbox:}:own:state", "head");

const revoke = async ({ url }: ReplicaServer, key: string) =>
  (await control(`${url}/__sandbox`, `POST /keys/${key}/revoke`)).status;

describe.skipIf(noRedis !== undefined)("after a failover", () => {
  test("as docs/store.md writes it, each acknowledged change is in the new primary", async () => {
    const { primary, copy, name, server } = await withCopy();
    await copy.command("REPLICAOF", "NO", "ONE");
    name.leadTo(copy.port);
    const before = await headIn(primary);
    for (const type of ["normal", "pubsub"]) await primary.command("CLIENT", "KILL", "TYPE", type);
    await expect.poll(() => revoke(server, "active"), { timeout: 20_000 }).toBe(200);
    expect(await headIn(primary)).toBe(before);
    const other = await startReplica(copy.url, "key-states");
    onTestFinished(() => other.close(0));
    const { body } = await control(`${other.url}/__sandbox`, "GET /keys/active");
    expect(body.data.state).toBe("revoked");
  });

  test("a server whose primary has become a copy connects again by the name", async () => {
    const { primary, copy, name, server } = await withCopy();
    await copy.command("REPLICAOF", "NO", "ONE");
    name.leadTo(copy.port);
    await primary.command("REPLICAOF", "127.0.0.1", String(copy.port));
    await expect.poll(() => revoke(server, "active"), { timeout: 20_000 }).toBe(200);
  });
});

/** The ids of requests to a server. */
async function idsOf({ url }: ReplicaServer, count: number): Promise<string[]> {
  const responses = await Promise.all(Array.from({ length: count }, () => fetch(url + mePath)));
  return responses.map(({ headers }) => headers.get("x-request-id") ?? "");
}

describe.skipIf(noRedis !== undefined)("no request id is given twice", () => {
  test("after a store lost everything, and by the copy that is imported into another one", async () => {
    const [first, second] = [await startRedis(), await startRedis()];
    const options = { profile: "typical" } as const;
    const keys = { main: { environment: "test" } } as const;
    const scenario: Scenario = { version: 1, name: "Ids", organizations: { bank: { type: "bank", keys } } };
    const server = await startReplica(first.url, scenario, options);
    onTestFinished(async () => {
      await server.close(0);
      await first.close();
      await second.close();
    });
    const ids = await idsOf(server, 3);
    const startedWith = identityOf(resolveSource(scenario));
    const text = stateText({ startedWith, ...(await server.store.describe()) });
    const imported = await startReplica(second.url, scenario, {
      ...options,
      imported: { text, given: "backup.json" },
    });
    onTestFinished(() => imported.close(0));
    ids.push(...(await idsOf(server, 3)), ...(await idsOf(imported, 3)));
    await first.command("FLUSHALL");
    ids.push(...(await idsOf(server, 6)));
    expect([new Set(ids).size, ids.includes("")]).toEqual([15, false]);
  });
});
