import { variableOf } from "../domain/key-variable.js";
import { outcomeOf, type PathId } from "../domain/outcomes.js";
import { createWorld, type World } from "../sandbox/world.js";
import { bundledScenarios, type ScenarioName } from "../scenario/bundled.js";
import { type SureRequest, sureRequests } from "./sure-requests.js";

/** In which bundled scenarios a path is looked for that the running world does not have. */
const elsewhere: readonly ScenarioName[] = ["key-states", "bad-day", "announced-endpoints"];

/**
 * Says for each path how to meet it now: in the world that runs if one request does it, else in a bundled scenario.
 *
 * Counts nothing and changes nothing.
 */
export function howToMeet(world: World): (pathId: PathId) => string | null {
  let here: ReadonlyMap<PathId, SureRequest> | undefined;
  let others: readonly Elsewhere[] | undefined;
  return (pathId) => {
    here ??= sureRequests(world);
    const request = here.get(pathId);
    if (request !== undefined) return instruction(pathId, request);
    others ??= elsewhere.map((name) => ({ name, requests: requestsIn(name, world) }));
    const other = others.find(({ requests }) => requests.has(pathId));
    if (other === undefined) return null;
    // What a scenario of one's own lacks for it.
    const which = outcomeOf(pathId).preview === true ? `${other.name} (it has preview: true)` : other.name;
    return `start svc-sandbox ${which}, then ${instruction(pathId, other.requests.get(pathId) as SureRequest)}`;
  };
}

interface Elsewhere {
  readonly name: ScenarioName;
  readonly requests: ReadonlyMap<PathId, SureRequest>;
}

function requestsIn(name: ScenarioName, { edge }: World): ReadonlyMap<PathId, SureRequest> {
  return sureRequests(createWorld(bundledScenarios[name], { edge, name }));
}

function instruction(pathId: PathId, { method, path, key, headers = {}, body }: SureRequest): string {
  const verb = method === "GET" ? "" : `-X ${method} `;
  // Without a timeout curl waits for ever.
  const patience = pathId === "fault.hang" ? "-m 5 " : "";
  const { words, header } = presented(key);
  const option = header === undefined ? "" : `-H ${header} `;
  const more = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)} `);
  const data = body === undefined ? "" : `-d ${quoted(body)} `;
  return `${words}: curl ${patience}${verb}${option}${more.join("")}${data}"$SVC_BASE_URL${path}"`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function presented(key: SureRequest["key"]): { words: string; header: string | undefined } {
  if (typeof key === "object") {
    const variable = variableOf(key.ref);
    return { words: `send ${variable} (ref ${key.ref})`, header: `"x-api-key: $${variable}"` };
  }
  if (key === "malformed") return { words: "send what is no key", header: '"x-api-key: not-a-key"' };
  // In two pieces, which the shell puts together: a report holds nothing that looks like a key.
  if (key === "unknown") {
    return { words: "send a key that nobody holds", header: "'x-api-key: SVC_test_''sbx-nobody-holds-this'" };
  }
  return { words: "send no key", header: undefined };
}
