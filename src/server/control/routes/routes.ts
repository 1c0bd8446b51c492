import { openApiDocument } from "../../../api/openapi.js";
import { identityOf, stateText } from "../../../log/state-file.js";
import { isoOf } from "../../../sandbox/clock.js";
import { anything, record, text } from "../../../spec/schema/shape.js";
import { answers } from "../answers.js";
import { streamEvents } from "../events.js";
import { controlOpenApiDocument } from "../openapi.js";
import { pageRoute } from "../page.js";
import { type Route, route, textAnswer } from "../route.js";
import { dashboardRoutes } from "./dashboard.js";
import { gateRoutes } from "./gate.js";
import { instanceRoutes, requireInstances } from "./instances.js";
import { scenarioRoutes } from "./scenario.js";
import { trafficRoutes } from "./traffic.js";
import { worldRoutes } from "./world.js";

const document = record(anything());

/** All routes of the control plane. */
export const routes: readonly Route[] = [
  ...worldRoutes,
  ...scenarioRoutes,
  ...dashboardRoutes,
  ...gateRoutes,
  ...trafficRoutes,
  ...instanceRoutes,
  route("GET /export", {
    summary: "The sandbox and its instances as a state file, for --import",
    answer: document,
    isBare: true,
    isLocal: true,
    async run(context, { server: { log, own } }) {
      requireInstances(context);
      const state = { startedWith: identityOf(own()), ...(await log.describe()) };
      return textAnswer("application/json", stateText(state, "export"));
    },
  }),
  route("POST /stop", {
    summary: "Stops the server",
    answer: answers.Stopping,
    isLocal: true,
    run(context, { response, server }) {
      const { world } = context;
      requireInstances(context);
      // After the response is sent.
      response.once("close", server.stop);
      return { scenario: world.name, seed: world.seed, started_at: isoOf(server.startedAt) };
    },
  }),
  route("GET /events", {
    summary: "Requests and changes, as server-sent events; resumes after Last-Event-ID",
    answer: text(),
    types: ["text/event-stream"],
    isLocal: true,
    run: streamEvents,
  }),
  route("GET /metrics", {
    summary: "Metrics in the Prometheus text format",
    answer: text(),
    types: ["text/plain"],
    isLocal: true,
    async run(context, { server, response }) {
      requireInstances(context);
      // Loaded when needed: most servers are not monitored.
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
