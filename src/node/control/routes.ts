import type { JsonSchema } from "../../api/endpoint.js";
import type { World } from "../../sandbox/world.js";
import { dashboardRoutes } from "./dashboard-routes.js";
import { instanceRoutes } from "./instance-routes.js";
import type { Route } from "./route.js";
import { trafficRoutes } from "./traffic-routes.js";
import { worldRoutes } from "./world-routes.js";

/** Every route of the control plane; the pages are apart. */
export const routes: readonly Route[] = [
  ...worldRoutes,
  ...dashboardRoutes,
  ...trafficRoutes,
  ...instanceRoutes,
];

/** The pages that GET answers beside the routes: documents, a page of links and the stream of events. */
export const pages = [
  page("/", "A page of links to everything there is to see", "text/html", { type: "string" }),
  page("/openapi.json", "The description of the relying-party API", "application/json", { type: "object" }),
  page("/control.openapi.json", "This description", "application/json", { type: "object" }),
  page(
    "/events",
    "Everything that happens, as server-sent events; resumes after Last-Event-ID",
    "text/event-stream",
    { type: "string" },
  ),
] as const;

/** The path of a page. */
export type PagePath = (typeof pages)[number]["path"];

function page<const Path extends string>(path: Path, summary: string, type: string, schema: JsonSchema) {
  return { path, summary, type, schema };
}

/**
 * Renders the page of links.
 *
 * The links are relative to the path of its request, `here`, so that an instance's lead to the instance.
 */
export function linksPage(world: World, { here, isInstance }: { here: string; isInstance: boolean }): string {
  const name = escapeHtml(world.name);
  const base = here.endsWith("/") ? "." : "./__sandbox";
  const shown = routes.filter(
    ({ method, path, preview }) =>
      method === "GET" && !path.includes("{") && (preview !== true || world.preview),
  );
  const links = [...shown, ...pages.filter(({ path }) => path !== "/")]
    .filter(({ path }) => !(isInstance && path === "/instances"))
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
