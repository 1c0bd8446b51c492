import { expectedCode } from "../../api/messages.js";
import { failures } from "../../domain/fault.js";
import { outcomeOf, outcomes, type PathId } from "../../domain/outcomes.js";
import { type Reproduction, reproductionsIn } from "../../report/reproduce.js";
import type { World } from "../../world/world.js";

/** Requests that show each way in which a request can end, for a client that people use by hand. */
export interface Collection {
  readonly name: string;
  readonly description: string;
  /** Requests to be sent in their order. */
  readonly groups: readonly { readonly name: string; readonly requests: readonly CollectionRequest[] }[];
  /** The names of the variables in it, which stand as `{{NAME}}`. */
  readonly variables: readonly string[];
  /** The paths that it cannot show. */
  readonly leftOut: readonly PathId[];
}

export interface CollectionRequest {
  readonly name: string;
  readonly description: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** `undefined` when the client gets no answer that it can read. */
  readonly status: number | undefined;
  /** The code in the body of the answer; `null` when it has none, or any. */
  readonly code: string | null;
}

/**
 * Makes the collection of a world that has just been started; what it cannot show is shown by others, of bundled
 * scenarios, to which a request switches the sandbox.
 */
export function collectionOf(world: World, others: readonly World[]): Collection {
  const missing = new Set<PathId>(outcomes.map(({ path }) => path));
  const variables = new Set(["SVC_BASE_URL", "SVC_CONTROL_URL"]);
  const groups: Collection["groups"][number][] = [];
  const addGroup = (shown: World, start: CollectionRequest) => {
    const found = reproductionsIn(shown);
    const paths = [...missing].filter((path) => found.has(path));
    const requests = paths.map((path) => {
      const reproduction = found.get(path) as Reproduction;
      if (reproduction.variable !== undefined) variables.add(reproduction.variable);
      missing.delete(path);
      return requestOf(shown, path, reproduction, start.name);
    });
    // Runners count a request without an answer as a failure: these can be left out by their group.
    for (const isAnswered of [true, false]) {
      const part = requests.filter(({ status }) => (status !== undefined) === isAnswered);
      const name = isAnswered ? shown.name : `${shown.name}, no answer`;
      if (part.length > 0) groups.push({ name, requests: [start, ...part] });
    }
  };
  const switchTo = ({ name }: World) => controlRequest(`Switch to ${name}`, "PUT", "/scenario", { name });
  addGroup(world, controlRequest("Start the scenario again", "POST", "/reset", {}));
  for (const other of others) addGroup(other, switchTo(other));
  if (others.length > 0) groups.push({ name: "end", requests: [switchTo(world)] });
  return {
    name: `svc-sandbox ${world.name}`,
    description: `One request for each path of the relying-party API. Send them from top to bottom to svc-sandbox ${world.name}.`,
    groups,
    variables: [...variables],
    leftOut: [...missing],
  };
}

function controlRequest(name: string, method: string, path: string, body: object): CollectionRequest {
  return {
    name,
    description: "A call of the control plane, for the requests below it.",
    method,
    url: `{{SVC_CONTROL_URL}}${path}`,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    status: 200,
    code: null,
  };
}

function requestOf(world: World, path: PathId, found: Reproduction, start: string): CollectionRequest {
  const { when, whatToDo } = outcomeOf(path);
  const { variable, method = "GET", headers = {}, body } = found;
  const key = variable === undefined ? {} : { "x-api-key": `{{${variable}}}` };
  return {
    name: path,
    description: `${when[0]?.toUpperCase()}${when.slice(1)}. ${whatToDo} Needs "${start}" before it.`,
    method,
    url: `{{SVC_BASE_URL}}${found.path}`,
    headers: { ...headers, ...key },
    body,
    ...expectedOf(world, found),
  };
}

function expectedOf(world: World, { apiPath, fault = {} }: Reproduction) {
  const { reset, hang, truncate, malformed, status, html } = fault;
  if (reset || hang || truncate) return { status: undefined, code: null };
  if (malformed) return { status: 200, code: null };
  if (status !== undefined) return { status, code: html ? null : failures[status].code };
  return { status: outcomeOf(apiPath).status, code: expectedCode(world, apiPath) };
}
