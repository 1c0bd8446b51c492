import { openApiDocument } from "../../../api/openapi.js";
import { isoOf } from "../../../rules/time.js";
import { pageRoute } from "../page.js";
import { controlRoute, jsonResponse, type Route } from "../route.js";
import { farmerRoutes } from "./farmers.js";
import { keyRoutes } from "./keys.js";
import { requestRoutes } from "./requests.js";
import { sandboxRoutes } from "./sandbox.js";
import { scenarioRoutes } from "./scenario.js";
import { storyRoutes } from "./story.js";

export const routes: readonly Route[] = [
  ...sandboxRoutes,
  ...scenarioRoutes,
  ...keyRoutes,
  ...requestRoutes,
  ...farmerRoutes,
  ...storyRoutes,
  controlRoute("POST /stop", {
    summary: "Stops the server",
    changes: false,
    run({ sandbox }, { response, server }) {
      // The caller must get this response before the server stops.
      response.once("close", server.stop);
      return { scenario: sandbox.name, seed: sandbox.seed, startedAt: isoOf(server.startedAt) };
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    run: () => jsonResponse(openApiDocument()),
  }),
  pageRoute,
];
