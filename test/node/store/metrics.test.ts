import { expect, test } from "vitest";
import { randomStream } from "../../../src/domain/seed.js";
import { createMemoryStore } from "../../support/memory-log.js";
import { pageOf } from "../../support/pages.js";
import { type Metrics, readMetrics } from "../../support/prometheus.js";
import { type ReplicaServer, startReplica } from "../../support/replicas.js";
import { mePath } from "../../support/send.js";

async function scrape({ controlUrl }: ReplicaServer): Promise<Metrics> {
  return readMetrics(await (await fetch(`${controlUrl}/metrics`)).text());
}

const sumOf = (metrics: Metrics, name: string) =>
  metrics.get(name)?.samples.reduce((sum, { value }) => sum + value, 0);

test("a replica counts what it has answered itself, shows the keys of all, and says how its store is", async () => {
  const stream = randomStream(1, "interleaving");
  const store = createMemoryStore({ time: Date.now, random: () => stream() / 2 ** 32 });
  const servers = [
    await startReplica(store.open(), "key-states"),
    await startReplica(store.open(), "key-states"),
  ] as const;
  const [one, other] = servers;
  try {
    const headers = { "x-api-key": one.copy.secret("active") };
    const ask = async ({ url }: ReplicaServer) => (await fetch(url + mePath, { headers })).status;
    for (let i = 0; i < 5; i++) expect(await ask(one)).toBe(200);
    for (let i = 0; i < 3; i++) expect(await ask(other)).toBe(200);
    await fetch(`${one.controlUrl}/keys/active/revoke`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    // A read of the other brings it to the head.
    await fetch(`${other.controlUrl}/state`);
    const [ofOne, ofOther] = (await Promise.all(servers.map(scrape))) as [Metrics, Metrics];
    expect([ofOne, ofOther].map((metrics) => sumOf(metrics, "svc_sandbox_requests_total"))).toEqual([5, 3]);
    expect(ofOther.get("svc_sandbox_keys")).toEqual(ofOne.get("svc_sandbox_keys"));
    expect([sumOf(ofOne, "svc_sandbox_store_up"), sumOf(ofOne, "svc_sandbox_ready")]).toEqual([1, 1]);
    expect(sumOf(ofOther, "svc_sandbox_store_entries")).toBeGreaterThan(8);
    const size = store.entries.reduce((sum, { text }) => sum + text.length, 0);
    expect(["log_bytes", "losses_total"].map((name) => sumOf(ofOther, `svc_sandbox_store_${name}`))).toEqual([
      size,
      0,
    ]);
    const gauges = [...ofOne].filter(([, { type }]) => type === "gauge").map(([name]) => name);
    expect(gauges.filter((name) => name.endsWith("_total"))).toEqual([]);
    const listed = [
      ...pageOf("docs/control-plane-reference.md").matchAll(/^\| `(svc_sandbox_\w+)` \| (\w+) \|/gm),
    ];
    const shown = [...ofOne].filter(([name]) => name.startsWith("svc_sandbox_"));
    expect(shown.map(([name, { type }]) => `${name} ${type}`).sort()).toEqual(
      listed.map(([, name, type]) => `${name} ${type}`).sort(),
    );

    store.cut();
    expect([await ask(one), await ask(one)]).toEqual([503, 503]);
    const ready = await fetch(`${one.controlUrl}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { error: { code: "not_ready", message: "The store cannot be reached." } },
    ]);
    expect((await fetch(`${one.controlUrl}/health`)).status).toBe(200);
    const away = await scrape(one);
    expect(
      ["store_up", "ready", "store_refusals_total", "defects_total"].map((name) =>
        sumOf(away, `svc_sandbox_${name}`),
      ),
    ).toEqual([0, 0, 2, 0]);

    store.mend();
    expect(await ask(one)).toBe(401);
    expect((await fetch(`${one.controlUrl}/ready`)).status).toBe(200);
    store.lose();
    expect(await ask(one)).toBe(200);
    expect(sumOf(await scrape(one), "svc_sandbox_store_losses_total")).toBe(1);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
});
