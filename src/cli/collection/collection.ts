import { expectedCode } from "../../api/messages.js";
import { type Reproduction, reproductionsIn } from "../../report/reproduce.js";
import type { World } from "../../sandbox/world.js";
import { failures } from "../../spec/fault.js";
import { outcomeOf, outcomes, type PathId } from "../../spec/outcomes.js";

/** Requests for each way a request can end, for a client that people use manually. */
export interface Collection {
  readonly name: string;
  readonly description: string;
  /** Requests to send in order. */
  readonly groups: readonly { readonly name: string; readonly requests: readonly CollectionRequest[] }[];
  /** The names of its variables, written as `{{NAME}}`. */
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
  /** `undefined` if the client gets no readable response. */
  readonly status: number | undefined;
  /** The code in the response's body; `null` for none or any. */
  readonly code: string | null;
}

/**
 * Returns the collection of a fresh sandbox. For paths that it cannot show, requests switch to the other sandboxes, which
 * are of bundled scenarios.
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
    // Runners treat a request without a response as a failure: its group can be left out.
    for (const isAnswered of [true, false]) {
      const part = requests.filter(({ status }) => (status !== undefined) === isAnswered);
      const name = isAnswered ? shown.name : `${shown.name}, no answer`;
      if (part.length > 0) groups.push({ name, requests: [start, ...part] });
    }
  };
  const switchTo = ({ name }: World) => controlRequest(`Switch to ${name}`, "PUT", "/scenario", { name });
  // No request could switch to a file.
  const again = controlRequest("Start the scenario again", "POST", "/reset", {});
  addGroup(world, others.length > 0 ? switchTo(world) : again);
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
    description: "A call of the control plane, for the requests below.",
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
