import { Counter, collectDefaultMetrics, Gauge, type MetricConfiguration, Registry } from "prom-client";
import { keyStateAt, keyStates } from "../../domain/api-key.js";
import type { World } from "../../sandbox/world.js";
import type { Instances } from "../log/instances.js";
import type { LogStatus } from "../log/log.js";
import { version } from "../package-files.js";
import type { ControlContext, ControlSurroundings } from "../server/http-server.js";
import { latencyBounds, type Traffic } from "../server/traffic.js";
import { subscribersOf } from "./events.js";

/** The text of a scrape. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** What is scraped. */
type Scraped = Pick<ControlContext, "runtime"> & {
  readonly server: Pick<ControlSurroundings, "traffic" | "unreadiness" | "log">;
  readonly world: World;
};

/**
 * Returns the metrics of a server and of its process.
 *
 * Everything is read when it is asked for. No label holds anything that a client has chosen: not a key, a ref, a path or an id.
 */
export async function metricsOf(scraped: Scraped, instances: Instances): Promise<MetricsText> {
  const registry = new Registry();
  const traffic = scraped.server.traffic.read();
  addTraffic(registry, traffic);
  addWorld(registry, scraped, instances);
  const status = scraped.server.log.status();
  if (status !== undefined) addStore(registry, status, traffic.unstored);
  const texts = await Promise.all([registry.metrics(), processMetrics().metrics()]);
  return { contentType: registry.contentType, text: texts.join("\n") };
}

let ofProcess: Registry | undefined;

// Those of Node watch the event loop and the garbage collection from the first scrape on, once for all servers of a process.
function processMetrics(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
}

const prefix = "svc_sandbox_";

function addTraffic(registry: Registry, { paths, latencies, totalMs, defects }: ReturnType<Traffic["read"]>) {
  const requests = new Counter({
    ...named(
      registry,
      "requests_total",
      "Requests that the API has answered, by the path on which they ended.",
    ),
    labelNames: ["path_id", "status"],
  });
  for (const { pathId, status, count } of paths) requests.inc({ path_id: pathId, status }, count);
  const sums = latencies.map((_, index) => latencies.slice(0, index + 1).reduce((sum, one) => sum + one, 0));
  const name = `${prefix}request_duration_seconds`;
  // Its own histogram takes a call for each observation.
  registry.registerMetric({
    name,
    get: async () => ({
      name,
      help: "Seconds from the arrival of a request to the API until its answer is handed to the socket.",
      type: "histogram",
      aggregator: "sum",
      values: [
        ...sums.map((value, index) => ({
          metricName: `${name}_bucket`,
          labels: { le: latencyBounds[index] === undefined ? "+Inf" : latencyBounds[index] / 1000 },
          value,
        })),
        { metricName: `${name}_sum`, labels: {}, value: totalMs / 1000 },
        { metricName: `${name}_count`, labels: {}, value: sums.at(-1) },
      ],
    }),
  } as never);
  new Counter(named(registry, "defects_total", "Defects of the sandbox, each answered with 500.")).inc(
    defects,
  );
}

function addWorld(registry: Registry, { runtime, server, world }: Scraped, instances: Instances) {
  const keys = new Gauge({
    ...named(registry, "keys", "Keys of the server's own world, by state."),
    labelNames: ["state"],
  });
  const now = world.clock.now();
  for (const state of keyStates) keys.set({ state }, 0);
  for (const { key } of world.registry.keys.values()) keys.inc({ state: keyStateAt(key, now) });
  const running = instances.list();
  setGauge(registry, "instances", "Instances that there are now.", running.length);
  const followed = [runtime, ...running.map((instance) => instance.runtime)];
  setGauge(
    registry,
    "event_subscribers",
    "Streams of events that are open now, those of instances included.",
    followed.reduce((sum, one) => sum + subscribersOf(one), 0),
  );
  setGauge(
    registry,
    "ready",
    "1 when the server is ready for requests, else 0.",
    server.unreadiness() === undefined ? 1 : 0,
  );
  new Gauge({
    ...named(registry, "build_info", "The version that runs; always 1."),
    labelNames: ["version"],
  }).set({ version }, 1);
}

function addStore(registry: Registry, { reachable, latencyMs, entries }: LogStatus, unstored: number) {
  const refused = "Requests to the API that were answered with 503 because the store was away.";
  new Counter(named(registry, "store_refusals_total", refused)).inc(unstored);
  setGauge(registry, "store_up", "1 when the store answered the last time, else 0.", reachable ? 1 : 0);
  setGauge(
    registry,
    "store_latency_seconds",
    "Seconds that the last entry took to be stored.",
    latencyMs / 1000,
  );
  setGauge(
    registry,
    "store_entries",
    "Entries that this replica has applied since the last snapshot; one that lags has fewer than the others.",
    entries,
  );
}

function setGauge(registry: Registry, name: string, help: string, value: number): void {
  new Gauge(named(registry, name, help)).set(value);
}

function named(registry: Registry, name: string, help: string): MetricConfiguration<string> {
  return { name: prefix + name, help, registers: [registry] };
}
