import { openApiDocument } from "../../api/openapi.js";
import { dashboardRoutes } from "./dashboard-routes.js";
import { streamEvents } from "./events.js";
import { instanceRoutes } from "./instance-routes.js";
import { controlOpenApiDocument } from "./openapi.js";
import { type Route, type RouteContext, route } from "./route.js";
import { trafficRoutes } from "./traffic-routes.js";
import { worldRoutes } from "./world-routes.js";

const text = { type: "string" };
const document = { type: "object" };

/** Every route of the control plane. */
export const routes: readonly Route[] = [
  ...worldRoutes,
  ...dashboardRoutes,
  ...trafficRoutes,
  ...instanceRoutes,
  route("GET /events", {
    summary: "Everything that happens, as server-sent events; resumes after Last-Event-ID",
    answer: text,
    types: ["text/event-stream"],
    run: streamEvents,
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
    run: () => controlOpenApiDocument(routes),
  }),
  route("GET /", {
    summary: "A page with links to everything there is to see",
    answer: text,
    types: ["text/html"],
    run: (context) => void context.response.type("html").send(linksPage(context)),
  }),
];

// The links are relative to the path of the request, so that an instance's lead to the instance.
function linksPage({ world, request, instances }: RouteContext): string {
  const name = escapeHtml(world.name);
  const base = request.path.endsWith("/") ? "." : "./__sandbox";
  const links = routes
    .filter(({ method, path }) => method === "GET" && path !== "/" && !path.includes("{"))
    .filter(
      ({ path, preview = false }) => (instances || path !== "/instances") && (world.preview || !preview),
    )
    .map(({ path }) => `<li><a href="${base}${path}">/__sandbox${path}</a></li>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc-sandbox: ${name}</title>
<h1>svc-sandbox</h1>
<p>Scenario <strong>${name}</strong>, seed ${world.seed}. The API is at <code>/v1/relying-party/me</code> under the base URL.</p>
<ul>
${links.join("\n")}
</ul>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
