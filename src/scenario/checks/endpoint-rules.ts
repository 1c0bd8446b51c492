import { pathWithoutParameterNames } from "../../rules/canonical-path.js";
import { quote } from "../../schema/words.js";
import { numbersOfBodies, writtenEndpoints } from "../written-endpoints.js";
import { isExactInJson } from "./exact-number.js";
import type { ScenarioRule } from "./rule-input.js";

const maxEndpoints = 100;

/** A scenario has not too many endpoints, and removes only inherited ones. */
const endpointsFit: ScenarioRule = ({ scenario, addProblem }) => {
  const count = writtenEndpoints(scenario).length;
  if (count > maxEndpoints) {
    addProblem({
      code: "out_of_range",
      field: ["endpoints"],
      pointAt: "name",
      message: `the scenario has ${count} endpoints, and at most ${maxEndpoints} are allowed`,
      hint: "remove some",
    });
  }

  for (const [name, endpoint] of Object.entries(scenario.endpoints ?? {})) {
    // Merging with the extended scenario has taken out each `null` that removes something.
    if (endpoint !== null) continue;
    addProblem({
      code: "endpoint_contradiction",
      field: ["endpoints", name],
      pointAt: "name",
      message: `${quote(name)} removes nothing: no extended scenario has this endpoint`,
      hint: "write an endpoint, or remove the line",
    });
  }
};

/** No endpoint responds to the requests of another. */
const endpointsAreApart: ScenarioRule = ({ scenario, fieldToFix, addProblem }) => {
  const nameByTarget = new Map<string, string>();
  for (const [name, { method = "GET", path }] of writtenEndpoints(scenario)) {
    const target = `${method} ${pathWithoutParameterNames(path)}`;
    const first = nameByTarget.get(target);
    if (first === undefined) {
      nameByTarget.set(target, name);
      continue;
    }

    const field = fieldToFix(
      ["endpoints", name, "path"],
      ["endpoints", name, "method"],
      ["endpoints", first, "path"],
      ["endpoints", first, "method"],
    );
    const [, nameToFix] = field;
    const otherName = nameToFix === name ? first : name;
    addProblem({
      code: "endpoint_contradiction",
      field,
      message: `${quote(otherName)} already responds to ${method} ${path}`,
      hint: "write another path or method, or remove one",
    });
  }
};

/** The numbers in bodies are sent, or compared with responses, with the value that is written. */
const numbersAreExact: ScenarioRule = ({ scenario, spelling, addProblem }) => {
  for (const [field, number] of numbersOfBodies(scenario)) {
    const text = spelling(field) ?? String(number);
    const startsWithZeros = /^[+-]?0\d/.test(text);
    if (startsWithZeros) {
      addProblem({
        code: "out_of_range",
        field,
        message: `${text} would lose its zeros`,
        hint: "put a code or an id in quotes",
      });
    } else if (!isExactInJson(number, text)) {
      addProblem({
        code: "out_of_range",
        field,
        message: `JSON has no exact number ${text}`,
        hint: "put it in quotes, or write another number",
      });
    }
  }
};

/** In bytes, as JSON. */
const longestBody = 64 * 1024;

/** A 204 has no body, and any other one is not too long. */
const bodiesFit: ScenarioRule = (input) => {
  const { scenario, fieldToFix, addProblem } = input;
  for (const [name, { body, status }] of writtenEndpoints(scenario)) {
    if (body === undefined) continue;
    const bodyField = ["endpoints", name, "body"];
    if (status === 204) {
      addProblem({
        code: "endpoint_contradiction",
        field: fieldToFix(bodyField, ["endpoints", name, "status"]),
        message: "a 204 has no body",
        hint: "remove the body (below extends, with body: null), or write status: 200",
      });
    } else if (isTooLong(body)) {
      addProblem({
        code: "endpoint_contradiction",
        field: bodyField,
        message: `the body is longer than ${longestBody / 1024} KiB as JSON`,
        hint: "shorten it; aliases (*) repeat",
      });
    }
  }
};

function isTooLong(body: unknown): boolean {
  // Aliases can repeat a long text a thousand times: once it is too long, the rest is not written out.
  let length = 0;
  const text = JSON.stringify(body, function (this: unknown, name, part) {
    // JSON has the names of members, and none for items.
    if (!Array.isArray(this)) length += name.length;
    length += typeof part === "string" ? part.length : 1;
    return length > longestBody ? undefined : part;
  });
  return length > longestBody || new TextEncoder().encode(text).length > longestBody;
}

export const endpointRules: readonly ScenarioRule[] = [
  endpointsFit,
  endpointsAreApart,
  numbersAreExact,
  bodiesFit,
];
