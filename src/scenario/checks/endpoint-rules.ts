import { pathWithoutParameterNames } from "../../rules/canonical-path.js";
import { quote } from "../../schema/words.js";
import { numbersOfBodies, writtenEndpoints } from "../keys.js";
import { shownUnlessSecret } from "../problems.js";
import { longestSpelling } from "../written-scenario.js";
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

/** The numbers in bodies are sent, or compared with responses, with the value that is written. */
const numbersAreExact: ScenarioRule = ({ scenario, spelling, problems }) => {
  for (const [field, number] of numbersOfBodies(scenario)) {
    const text = spelling(field) ?? String(number);
    if (/^[+-]?0\d/.test(text)) {
      const message = `${shownUnlessSecret(field, text)} would lose its zeros`;
      problems.add("out_of_range", field, message, "put a code or an id in quotes");
      continue;
    }

    const isHexOrOctal = /^0(?:x[\da-f]+|o[0-7]+)$/i.test(text);
    const decimal = isHexOrOctal ? String(BigInt(text)) : text;
    const isExact = inOneForm(decimal) === inOneForm(String(number));
    // The spelling of a longer number is cut.
    if (!isExact || !Number.isFinite(number) || text.length >= longestSpelling) {
      const message = `JSON has no exact number ${shownUnlessSecret(field, text)}`;
      problems.add("out_of_range", field, message, "put it in quotes, or write another number");
    }
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
  numbersAreExact,
  bodiesAreAllowed,
];

// A number in a body is sent as JSON, which has the shortest text of a value: `1.5` for `1.50`, and `1234567890123456800` for
// `1234567890123456789`. The first two are one number, the other two are not.

/**
 * A decimal number without its sign, in one form for all texts of it: its digits as a whole number, and the power of ten.
 *
 *   1.5, +1.50, 0.15e1     15e-1
 *   1200                   12e2
 *   0, 0.00                0
 */
function inOneForm(text: string): string {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^[+-]?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];

  // Without its point, `1.50` is 150e-2.
  const digits = (whole + fraction).replace(/^0+/, "");
  const power = Number(exponent) - fraction.length;
  if (digits === "") return "0";

  // Each zero at the end is one power of ten: 150e-2 is 15e-1.
  const shortDigits = digits.replace(/0+$/, "");
  const zeros = digits.length - shortDigits.length;
  return `${shortDigits}e${power + zeros}`;
}
