import { describeApi } from "../../../api/openapi.js";
import { endpointsOf } from "../../../api/routes.js";
import * as s from "../../../rules/schema/shape.js";
import { isoOf } from "../../../sandbox/clock.js";
import { identityOf, stateText } from "../../../store/state-format.js";
import { controlOpenApiDocument } from "../openapi.js";
import { pageRoute } from "../page.js";
import { responses } from "../responses.js";
import { controlRoute, type Route, textResponse } from "../route.js";
import { dashboardRoutes } from "./dashboard.js";
import { instanceRoutes, requireInstances } from "./instances.js";
import { recordRoutes } from "./records.js";
import { sandboxRoutes } from "./sandbox.js";
import { scenarioRoutes } from "./scenario.js";
import { requestChecksRoutes, trafficRoutes } from "./traffic.js";

const document = s.record(s.anything());

export const routes: readonly Route[] = [
  ...sandboxRoutes,
  ...scenarioRoutes,
  ...dashboardRoutes,
  ...recordRoutes,
  ...requestChecksRoutes,
  ...trafficRoutes,
  ...instanceRoutes,
  controlRoute("GET /export", {
    summary: "The sandbox and its instances as a state file, for --import",
    response: document,
    isBare: true,
    kind: "local",
    async run(context, { server: { store, own } }) {
      requireInstances(context);
      const without = store.status()?.broken?.map(({ id }) => id);
      const state = { startedWith: identityOf(own()), without, ...(await store.describe()) };
      return textResponse("application/json", stateText(state));
    },
  }),
  controlRoute("POST /stop", {
    summary: "Stops the server",
    response: responses.Stopping,
    kind: "local",
    run(context, { response, server }) {
      const { sandbox } = context;
      requireInstances(context);
      response.locals.isChange = true;
      // After the response is sent.
      response.once("close", server.stop);
      return { scenario: sandbox.name, seed: sandbox.seed, startedAt: isoOf(server.startedAt) };
    },
  }),
  controlRoute("GET /metrics", {
    summary: "Metrics in the Prometheus text format",
    response: s.text(),
    types: ["text/plain"],
    kind: "local",
    async run(context, { server, response }) {
      requireInstances(context);
      // Loaded when needed: most servers are not monitored.
      const { metricsOf } = await import("../metrics.js");
      const { contentType, text } = await metricsOf(context.sandbox, server);
      response.set("Content-Type", contentType).send(text);
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    response: document,
    isBare: true,
    run: ({ sandbox }) => describeApi(endpointsOf(sandbox)),
  }),
  controlRoute("GET /control.openapi.json", {
    summary: "The OpenAPI document of the control plane",
    response: document,
    isBare: true,
    kind: "local",
    run: () => controlOpenApiDocument(routes),
  }),
  pageRoute,
];
