import { outcomeOf, type PathId } from "../domain/outcomes.js";
import { createWorld, type World } from "../sandbox/world.js";
import { bundledScenarios, type ScenarioName } from "../scenario/bundled.js";
import { instruction } from "./instruction.js";
import { type SureRequest, sureRequests } from "./sure-requests.js";

/** In which bundled scenarios a path is looked for that the running world does not have. */
const elsewhere: readonly ScenarioName[] = ["key-states", "bad-day", "announced-endpoints"];

/**
 * Says for each path how to meet it now: in the world that runs if one request does it, else in a bundled scenario. What
 * that one has as it starts, and the world that runs has no more, a reset brings back. `options` are those that curl needs
 * to reach the sandbox.
 *
 * Counts nothing and changes nothing.
 */
export function howToMeet(world: World, options = ""): (pathId: PathId) => string | null {
  let here: ReadonlyMap<PathId, SureRequest> | undefined;
  let others: readonly Elsewhere[] | undefined;
  return (pathId) => {
    here ??= sureRequests(world);
    const request = here.get(pathId);
    if (request !== undefined) return instruction(pathId, request, options);
    others ??= elsewhere.map((name) => ({ name, requests: requestsIn(name, world) }));
    const other = others.find(({ requests }) => requests.has(pathId));
    if (other === undefined) return null;
    const line = instruction(pathId, other.requests.get(pathId) as SureRequest, options);
    if (other.name === world.name) return `reset the sandbox (POST $SVC_CONTROL_URL/reset), then ${line}`;
    // What a scenario of one's own lacks for it.
    const which = outcomeOf(pathId).preview === true ? `${other.name} (it has preview: true)` : other.name;
    return `start svc-sandbox ${which}, then ${line}`;
  };
}

interface Elsewhere {
  readonly name: ScenarioName;
  readonly requests: ReadonlyMap<PathId, SureRequest>;
}

function requestsIn(name: ScenarioName, { platform }: World): ReadonlyMap<PathId, SureRequest> {
  return sureRequests(createWorld(bundledScenarios[name], { platform, name }));
}
