import { openApiDocument } from "../../api/openapi.js";
import { SandboxError } from "../../domain/errors.js";
import { isOfWords } from "../../domain/redact.js";
import type { ScenarioSource } from "../../library/sandbox.js";
import type { InstanceList, ListedInstance } from "../../log/instances.js";
import { controlPath } from "../../node/addresses.js";
import { parseTime } from "../../scenario/format/time.js";
import { resolveSource } from "../../scenario/parse-scenario.js";
import { requireFields } from "../../schema/check.js";
import { anything, list, record, text } from "../../schema/shape.js";
import { isoOf } from "../../world/clock.js";
import { givenOptions } from "../../world/runtime.js";
import { scenarioSecrets } from "../../world/secrets.js";
import { answers } from "../answers.js";
import { streamEvents } from "../events.js";
import { controlOpenApiDocument } from "../openapi.js";
import { pageRoute } from "../page.js";
import { type Route, type RouteContext, route } from "../route.js";
import { dashboardRoutes } from "./dashboard.js";
import { gateRoutes } from "./gate.js";
import { requireQuickStart, scenarioRoutes } from "./scenario.js";
import { trafficRoutes } from "./traffic.js";
import { worldRoutes } from "./world.js";

const document = record(anything());

/** Every route of the control plane. */
export const routes: readonly Route[] = [
  ...worldRoutes,
  ...scenarioRoutes,
  ...dashboardRoutes,
  ...gateRoutes,
  ...trafficRoutes,
  // Isolated sandboxes inside the process: one for each test, in parallel.
  route("GET /instances", {
    summary: "All instances",
    answer: list(answers.InstanceSummary),
    run: (context) =>
      requireInstances(context)
        .list()
        .map((instance) => summaryOf(instance, context)),
  }),
  route("POST /instances", {
    summary: "Starts an isolated sandbox under a base URL of its own",
    body: "instance_creation",
    status: 201,
    makes: "instance",
    answer: answers.Instance,
    run(context) {
      const instances = requireInstances(context);
      const { scenario, now, label, ...asked } = context.body;
      // A longer word may be an encoded key (R46).
      const isPlain = label === undefined || isOfWords(label, 40, " -._,:/()[]");
      requireFields("start an instance", {
        label: isPlain
          ? undefined
          : "has words of up to 40 letters and digits, with spaces and -._,:/()[] between them",
      });
      const { seed, profile, trial } = context.runtime.given;
      // What answers a client gets does not depend on whether its tests make instances; the clock is their own. The server's
      // own scenario has its seed and profile already.
      const ofServer = scenario === undefined ? { trial } : { seed, profile, trial };
      const at = now === undefined ? undefined : parseTime(now);
      const given = givenOptions({ ...ofServer, ...asked, now: at });
      // Default: the server's own scenario, as it was at its start.
      const source = scenario === undefined ? context.world : resolveSource(scenario as ScenarioSource);
      if (scenario !== undefined) requireQuickStart(source.scenario);
      const instance = instances.create(source, given, { label });
      return { ...summaryOf(instance, context), keys: scenarioSecrets(instance.runtime.world()) };
    },
  }),
  route("DELETE /instances/{id}", {
    summary: "Removes an instance",
    run: (context) => requireInstances(context).remove(context.params.id ?? ""),
  }),
  route("POST /stop", {
    summary: "Stops the server: its process, or what startServer has started",
    answer: answers.Stopping,
    isLocal: true,
    run(context, { response, server }) {
      const { world } = context;
      requireInstances(context);
      // Not before the answer is sent.
      response.once("close", server.stop);
      return { scenario: world.name, seed: world.seed, started_at: isoOf(server.startedAt) };
    },
  }),
  route("GET /events", {
    summary: "Everything that happens, as server-sent events; resumes after Last-Event-ID",
    answer: text(),
    types: ["text/event-stream"],
    isLocal: true,
    run: streamEvents,
  }),
  route("GET /metrics", {
    summary: "What to watch of the server and its process, in the text format of Prometheus",
    answer: text(),
    types: ["text/plain"],
    isLocal: true,
    async run(context, { server, response }) {
      requireInstances(context);
      // Loaded when needed: nobody watches most servers.
      const { metricsOf } = await import("../metrics.js");
      const { contentType, text } = await metricsOf(context.world, server);
      response.set("Content-Type", contentType).send(text);
    },
  }),
  route("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    answer: document,
    isBare: true,
    run: ({ world: { preview } }) => openApiDocument({ preview }),
  }),
  route("GET /control.openapi.json", {
    summary: "The OpenAPI document of the control plane",
    answer: document,
    isBare: true,
    isLocal: true,
    run: () => controlOpenApiDocument(routes),
  }),
  pageRoute,
];

function requireInstances({ instances }: Pick<RouteContext, "instances">): InstanceList {
  if (instances !== undefined) return instances;
  throw new SandboxError(
    "not_found",
    "An instance has no instances or metrics of its own, and cannot stop the server; ask the server's control plane.",
  );
}

function summaryOf({ id, tenancy, createdAt, name, seed }: ListedInstance, { baseUrl }: RouteContext) {
  const url = `${baseUrl()}/i/${id}`;
  return {
    ...{ id, label: tenancy.label ?? null, created_at: isoOf(createdAt) },
    ...{ base_url: url, control_url: url + controlPath, scenario: name, seed },
  };
}
