import { Counter, collectDefaultMetrics, Gauge, type MetricConfiguration, Registry } from "prom-client";
import { version } from "../../node/package-files.js";
import { keyStateAt, keyStates } from "../../rules/api-key.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { bytesKept } from "../../store/account.js";
import type { StoreStatus } from "../../store/store.js";
import { latencyBounds, type Server, type Traffic, unreadiness } from "../sockets/server-state.js";

/** No label contains client input: no key, ref, path or id. */
export async function metricsOf(sandbox: SandboxState, server: Server) {
  const registry = new Registry();
  addTraffic(registry, server.traffic);
  addSandbox(registry, sandbox, server);
  const status = server.store.status();
  if (status !== undefined) addStored(registry, status, server.traffic.unstored);
  const texts = await Promise.all([registry.metrics(), processMetrics().metrics()]);
  // Node's metrics have no value before they have seen something.
  return { contentType: registry.contentType, text: texts.join("\n").replaceAll(/^.* nan\n/gim, "") };
}

let ofProcess: Registry | undefined;

// Node's metrics watch the event loop and garbage collection, starting with the first scrape, once for all servers.
function processMetrics(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  // Removes gauges with names of counters; the metrics without `_total` contain the same counts by type.
  for (const what of ["handles", "requests", "resources"]) {
    ofProcess.removeSingleMetric(`nodejs_active_${what}_total`);
  }
  return ofProcess;
}

const prefix = "svc_sandbox_";

function addTraffic(registry: Registry, { paths, latencies, totalMs, excess, defects }: Traffic) {
  const responded = "Requests to the API, by path.";
  const requests = new Counter({
    ...named(registry, "requests_total", responded),
    labelNames: ["path_id", "status"],
  });
  for (const [path_id, statuses] of paths) {
    for (const [status, count] of statuses) requests.inc({ path_id, status }, count);
  }
  let sum = 0;
  const sums = [...latencies].map((count) => (sum += count));
  const name = `${prefix}request_duration_seconds`;
  // prom-client's histogram would need a call for each observation.
  registry.registerMetric({
    name,
    get: async () => ({
      name,
      help: "Seconds from the arrival of a request to the API until its response is handed to the socket.",
      type: "histogram",
      aggregator: "sum",
      values: [
        ...sums.map((value, index) => ({
          metricName: `${name}_bucket`,
          labels: { le: latencyBounds[index] === undefined ? "+Inf" : latencyBounds[index] / 1000 },
          value,
        })),
        { metricName: `${name}_sum`, labels: {}, value: totalMs / 1000 },
        { metricName: `${name}_count`, labels: {}, value: sum },
      ],
    }),
  } as never);
  const above = "Requests and calls rejected because their instance or sender had reached a limit.";
  new Counter(named(registry, "instance_rejections_total", above)).inc(excess);
  const help = "Defects of the sandbox, each with a 500 response.";
  new Counter(named(registry, "defects_total", help)).inc(defects);
}

function addSandbox(registry: Registry, { clock, registry: { keys } }: SandboxState, server: Server) {
  const { store } = server;
  const byState = new Gauge({
    ...named(registry, "keys", "Keys of the server's own sandbox, by state."),
    labelNames: ["state"],
  });
  for (const state of keyStates) byState.set({ state }, 0);
  for (const { key } of keys.values()) byState.inc({ state: keyStateAt(key, clock.now()) });
  const set = gaugesIn(registry);
  set("instances", "Instances that exist now.", store.instances.count());
  set("instances_loaded", "Instances whose sandbox is in this process.", store.instances.loaded().length);
  const totals = { bytesKept: 0, bytesWaiting: 0, calls: 0, processorMs: 0 };
  for (const { sandbox: loaded } of store.instances.loaded()) {
    const { bytesWaiting, calls, processorMs } = server.accounts.of(loaded).status();
    totals.bytesKept += bytesKept(loaded);
    totals.bytesWaiting += bytesWaiting;
    totals.calls += calls;
    totals.processorMs += processorMs;
  }
  set("instances_kept_bytes", "What the loaded instances keep.", totals.bytesKept);
  set("instances_waiting_bytes", "What waits until clients of instances read it.", totals.bytesWaiting);
  set("instances_minute_calls", "Requests and calls of instances, each in its current minute.", totals.calls);
  const seconds = "Processor time of instances, each in its current minute.";
  set("instances_minute_processor_seconds", seconds, totals.processorMs / 1000);
  const isReady = unreadiness(server) === undefined;
  set("ready", "1 when the server is ready for requests, 0 when not.", isReady ? 1 : 0);
  const { max, used } = store.memory();
  set("memory_budget_bytes", "Heap above which the server starts no instances.", max);
  set("memory_used_bytes", "Heap that the server uses, compared with the budget.", used);
  const build = named(registry, "build_info", "The version that runs; always 1.");
  new Gauge({ ...build, labelNames: ["version"] }).set({ version }, 1);
}

function addStored(registry: Registry, status: StoreStatus, unstored: number) {
  const set = gaugesIn(registry);
  const { reachable, losses, bytes, problem, isFull } = status;
  const place = status.in;
  set(`${place}_bytes`, "Size of all sandboxes there, as of a few seconds ago.", bytes);
  set(`${place}_full`, "1 when it has no room, 0 when it has.", isFull ? 1 : 0);
  set(`${place}_writable`, "1 when changes can be stored, 0 when not.", problem === undefined ? 1 : 0);
  if (place === "file") {
    set("file_broken_instances", "Instances whose file cannot be read.", status.broken?.length ?? 0);
    const unsaved = (status.unsavedFor ?? 0) / 1000;
    set("file_unsaved_seconds", "Age of the oldest request or change that is not in its file.", unsaved);
    return;
  }
  const rejected = "Requests to the API that got 503 because the store was away.";
  new Counter(named(registry, "store_rejections_total", rejected)).inc(unstored);
  set("store_up", "1 when the store responded the last time, 0 when not.", reachable ? 1 : 0);
  const lost = "How often the store has lost data: the sandbox restarted from the rest.";
  new Counter(named(registry, "store_losses_total", lost)).inc(losses);
}

function gaugesIn(registry: Registry) {
  return (name: string, help: string, value: number) => new Gauge(named(registry, name, help)).set(value);
}

function named(registry: Registry, name: string, help: string): MetricConfiguration<string> {
  return { name: prefix + name, help, registers: [registry] };
}
