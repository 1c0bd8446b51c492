import { openApiDocument } from "../../../api/openapi.js";
import * as s from "../../../rules/schema/shape.js";
import { isoOf } from "../../../sandbox/clock.js";
import { pageRoute } from "../page.js";
import { responses } from "../responses.js";
import { controlRoute, type Route } from "../route.js";
import { dashboardRoutes } from "./dashboard.js";
import { sandboxRoutes } from "./sandbox.js";
import { scenarioRoutes } from "./scenario.js";
import { requestChecksRoutes, trafficRoutes } from "./traffic.js";

const document = s.record(s.anything());

export const routes: readonly Route[] = [
  ...sandboxRoutes,
  ...scenarioRoutes,
  ...dashboardRoutes,
  ...requestChecksRoutes,
  ...trafficRoutes,
  controlRoute("POST /stop", {
    summary: "Stops the server",
    response: responses.Stopping,
    changes: false,
    run({ sandbox }, { response, server }) {
      // After the response is sent.
      response.once("close", server.stop);
      return { scenario: sandbox.name, seed: sandbox.seed, startedAt: isoOf(server.startedAt) };
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    response: document,
    isBare: true,
    run: () => openApiDocument(),
  }),
  pageRoute,
];
