import type { ControlCall, ControlPlace } from "../../log/log.js";
import { SandboxError } from "../../spec/errors.js";
import type { LocalContext, Route } from "./route.js";
import { routes } from "./routes/routes.js";

const rowOf = new Map(routes.map((row) => [callName(row), row]));

/** Returns the name of a route in calls. */
export function callName({ method, path }: Pick<Route, "method" | "path">): string {
  return `${method} ${path}`;
}

/** Runs a call with its route; only a local route gets the exchange. */
export function runCall(
  { route, isYaml, ...input }: ControlCall,
  { isGone, ...place }: ControlPlace,
  local?: LocalContext,
): unknown {
  if (isGone) throw new SandboxError("not_found", "The instance has been removed.");
  const row = rowOf.get(route) as Route;
  const context = { ...place, ...input, world: place.runtime.world() };
  const withYaml = isYaml ? row.runYaml : undefined;
  if (withYaml !== undefined) return withYaml({ ...context, body: input.body as string });
  return row.run({ ...context, body: input.body as never }, local as LocalContext);
}
