import { SandboxError } from "../../domain/errors.js";
import { starterOf } from "../../library/create-sandbox.js";
import type { ScenarioSource } from "../../library/sandbox.js";
import { type GivenOptions, givenOptions } from "../../sandbox/runtime.js";
import { scenarioSecrets } from "../../sandbox/secrets.js";
import type { World } from "../../sandbox/world.js";
import { type NamedScenario, resolveSource } from "../../scenario/check-scenario.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { parseTime } from "../../scenario/format/time.js";
import { ScenarioError } from "../../scenario/problems/scenario-error.js";
import { nodePlatform } from "../platform.js";
import { controlPath } from "../server/lazy-control.js";
import { inData } from "./answer-schemas.js";
import { type CallContext, type ControlCall, controlCall } from "./call.js";
import { inField } from "./in-field.js";
import type { Instance, Instances } from "./instances.js";
import { scenarioFields } from "./scenario-fields.js";

/** Isolated sandboxes inside the process: one for each test, in parallel. */
export const instanceCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/instances",
    summary: "The instances that there are",
    status: 200,
    answer: inData.list("InstanceSummary"),
    run(context) {
      const instances = requireInstances(context);
      return { data: instances.list().map((instance) => summaryOf(instance, instances)) };
    },
  }),
  controlCall({
    method: "POST",
    path: "/instances",
    summary: "Starts an isolated sandbox under a base URL of its own",
    body: "instance_creation",
    status: 201,
    answer: inData.one("Instance"),
    run(context) {
      const instances = requireInstances(context);
      const { now } = context.body;
      const given = givenOptions({ ...context.body, now: now === undefined ? undefined : parseTime(now) });
      const instance = instances.create(starterFor(context, given), given);
      return { data: { ...summaryOf(instance, instances), keys: scenarioSecrets(instance.runtime.world()) } };
    },
  }),
  controlCall({
    method: "DELETE",
    path: "/instances/{id}",
    summary: "Removes an instance",
    status: 204,
    answer: undefined,
    run: (context) => requireInstances(context).remove(context.params.id as string),
  }),
];

function requireInstances({ instances }: Pick<CallContext<unknown>, "instances">): Instances {
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

// Without a scenario the instance gets the server's own, as it was at its start.
function starterFor(
  { runtime, body: { scenario } }: CallContext<ControlBody<"instance_creation">>,
  given: GivenOptions,
): () => World {
  const named = scenario === undefined ? runtime.world() : scenarioIn(scenario);
  return starterOf(nodePlatform, named.scenario, { ...given, name: named.name });
}

function scenarioIn(given: string | object): NamedScenario {
  try {
    return inField("scenario", () => resolveSource(given as ScenarioSource), ["scenario_not_found"]);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const fields = scenarioFields(error.problems, "scenario");
    throw new SandboxError("validation_failed", `The scenario is not valid: ${Object.values(fields)[0]}`, {
      fields,
    });
  }
}
