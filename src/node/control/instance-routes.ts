import { SandboxError } from "../../domain/errors.js";
import { starterOf } from "../../library/create-sandbox.js";
import type { ScenarioSource } from "../../library/sandbox.js";
import { givenOptions } from "../../sandbox/runtime.js";
import { scenarioSecrets } from "../../sandbox/secrets.js";
import { parseTime } from "../../scenario/format/time.js";
import { resolveSource } from "../../scenario/parse-scenario.js";
import { nodePlatform } from "../platform.js";
import { controlPath } from "../server/read-request.js";
import { listOf, one } from "./answer-schemas.js";
import type { Instance, Instances } from "./instances.js";
import { type Route, type RouteContext, route } from "./route.js";

/** Isolated sandboxes inside the process: one for each test, in parallel. */
export const instanceRoutes: readonly Route[] = [
  route("GET /instances", {
    summary: "All instances",
    answer: listOf("InstanceSummary"),
    run(context) {
      const instances = requireInstances(context);
      return instances.list().map((instance) => summaryOf(instance, instances));
    },
  }),
  route("POST /instances", {
    summary: "Starts an isolated sandbox under a base URL of its own",
    body: "instance_creation",
    status: 201,
    answer: one("Instance"),
    run(context) {
      const instances = requireInstances(context);
      const { scenario, now } = context.body;
      const given = givenOptions({ ...context.body, now: now === undefined ? undefined : parseTime(now) });
      // Default: the server's own scenario, as it was at its start.
      const source = scenario === undefined ? context.world : resolveSource(scenario as ScenarioSource);
      const start = starterOf(nodePlatform, source.scenario, { ...given, name: source.name });
      const instance = instances.create(start, given);
      return { ...summaryOf(instance, instances), keys: scenarioSecrets(instance.runtime.world()) };
    },
  }),
  route("DELETE /instances/{id}", {
    summary: "Removes an instance",
    run: (context) => requireInstances(context).remove(context.params.id ?? ""),
  }),
];

function requireInstances({ instances }: Pick<RouteContext, "instances">): Instances {
  if (instances !== undefined) return instances;
  throw new SandboxError(
    "not_found",
    "An instance has no instances of its own; ask the server's control plane.",
  );
}

function summaryOf(instance: Instance, instances: Instances) {
  const baseUrl = instances.baseUrl(instance);
  const { name, seed } = instance.runtime.world();
  return { id: instance.id, base_url: baseUrl, control_url: baseUrl + controlPath, scenario: name, seed };
}
