import { pathWithoutParameterNames } from "../../rules/canonical-path.js";
import { quote } from "../../schema/words.js";
import { writtenEndpoints } from "../keys.js";
import type { ScenarioRule } from "./rule-input.js";

/** A scenario removes only inherited endpoints. */
const removedEndpointsExist: ScenarioRule = ({ scenario, problems }) => {
  for (const [name, endpoint] of Object.entries(scenario.endpoints ?? {})) {
    // Merging with the extended scenario has taken out each `null` that removes something.
    if (endpoint !== null) continue;
    const message = `${quote(name)} removes nothing: no extended scenario has this endpoint`;
    const hint = "write an endpoint, or remove the line";
    problems.add("endpoint_contradiction", ["endpoints", name], message, hint, "name");
  }
};

/** No two endpoints have the same method and path, whatever their parameters are called. */
const endpointsAreApart: ScenarioRule = ({ scenario, problems }) => {
  const nameByTarget = new Map<string, string>();
  for (const [name, { method = "GET", path }] of writtenEndpoints(scenario)) {
    const target = `${method} ${pathWithoutParameterNames(path)}`;
    const first = nameByTarget.get(target);
    if (first === undefined) {
      nameByTarget.set(target, name);
      continue;
    }
    const message = `${quote(first)} already responds to ${method} ${path}`;
    const hint = "write another path or method, or remove one";
    problems.add("endpoint_contradiction", ["endpoints", name, "path"], message, hint);
  }
};

/** In bytes, as JSON. */
const longestBody = 64 * 1024;

/** A 204 has no body, and any other one is not too long. */
const bodiesAreAllowed: ScenarioRule = ({ scenario, problems }) => {
  for (const [name, { body, status }] of writtenEndpoints(scenario)) {
    if (body === undefined) continue;
    const field = ["endpoints", name, "body"];
    if (status === 204) {
      const message = "a 204 has no body";
      const hint = "remove the body (below extends, with body: null), or write status: 200";
      problems.add("endpoint_contradiction", field, message, hint);
    } else if (jsonLength(body) > longestBody) {
      const message = `the body is longer than ${longestBody / 1024} KiB as JSON`;
      problems.add("endpoint_contradiction", field, message, "shorten it; aliases (*) repeat");
    }
  }
};

/** The bytes of a part as JSON. Aliases can repeat a text a thousand times: what is too long is not counted to its end. */
function jsonLength(part: unknown): number {
  if (typeof part !== "object" || part === null) return new TextEncoder().encode(JSON.stringify(part)).length;

  const brackets = 2;
  let length = brackets;
  for (const [name, inner] of Object.entries(part)) {
    const comma = length === brackets ? 0 : 1;
    length += comma + jsonLength(inner);
    // An item of a list has no name.
    if (!Array.isArray(part)) length += jsonLength(name) + ":".length;
    if (length > longestBody) break;
  }
  return length;
}

export const endpointRules: readonly ScenarioRule[] = [
  removedEndpointsExist,
  endpointsAreApart,
  bodiesAreAllowed,
];
