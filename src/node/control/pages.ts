import type { JsonSchema } from "../../api/endpoint.js";

/** What the control plane answers to GET beside its calls: path, summary, type of content and what that looks like. */
export const pages = [
  page("/", "A page that links to what there is to see", "text/html", { type: "string" }),
  page("/openapi.json", "The description of the relying-party API", "application/json", { type: "object" }),
  page("/control.openapi.json", "This description", "application/json", { type: "object" }),
  page(
    "/events",
    "Everything that happens, as server-sent events; resumes after Last-Event-ID",
    "text/event-stream",
    { type: "string" },
  ),
] as const;

/** A path at which something is to be seen that is no call. */
export type PagePath = (typeof pages)[number]["path"];

function page<const Path extends string>(path: Path, summary: string, type: string, schema: JsonSchema) {
  return { path, summary, type, schema };
}
