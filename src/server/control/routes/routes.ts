import { openApiDocument } from "../../../api/openapi.js";
import { isoTime } from "../../../rules/time.js";
import { defaultFarmerPage } from "../../../sandbox/farmer-records/farmer-list.js";
import * as s from "../../../schema/shape.js";
import { membersToSnakeCase } from "../../../schema/spelling.js";
import { pageRoutes } from "../page.js";
import type { Route } from "../route.js";
import { controlRoute, dataResult } from "../route.js";
import { keyRoutes, pageFields } from "./keys.js";
import { requestRoutes } from "./requests.js";
import { sandboxRoutes } from "./sandbox.js";
import { scenarioRoutes } from "./scenario.js";
import { storyRoutes } from "./story.js";

export const routes: readonly Route[] = [
  ...sandboxRoutes,
  ...scenarioRoutes,
  ...keyRoutes,
  ...requestRoutes,
  controlRoute("GET /farmers", {
    summary: "The synthetic farmers",
    query: s.mapping(pageFields(defaultFarmerPage)),
    run({ sandbox: { farmers }, query }) {
      const { offset = 0, limit = defaultFarmerPage } = query;
      const data = membersToSnakeCase(farmers.list({ offset, limit }));
      return { kind: "json", status: 200, json: { data, total: farmers.count } };
    },
  }),
  controlRoute("GET /farmers/{farmer_id}", {
    summary: "One synthetic farmer",
    run: ({ sandbox, params }) => dataResult(sandbox.farmers.get(params.farmer_id)),
  }),
  ...storyRoutes,
  controlRoute("POST /stop", {
    summary: "Stops the server",
    changes: false,
    run({ sandbox, server, response }) {
      // The caller must get this response before the server stops.
      response.once("close", server.stop);
      return dataResult({ scenario: sandbox.name, seed: sandbox.seed, startedAt: isoTime(server.startedAt) });
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    run: () => ({ kind: "json", status: 200, json: openApiDocument() }),
  }),
  ...pageRoutes,
];
