import { formOfPath } from "../../rules/request-path.js";
import { quote } from "../../rules/schema/words.js";
import { numbersOfBodies, writtenEndpoints } from "../written-endpoints.js";
import type { ScenarioRule } from "./facts.js";

const maxEndpoints = 100;

const endpointsFit: ScenarioRule = (facts) => {
  const { scenario, addProblem } = facts;
  const endpoints = writtenEndpoints(scenario);
  if (endpoints.length > maxEndpoints) {
    const message = `the scenario has ${endpoints.length} endpoints, and at most ${maxEndpoints} are allowed`;
    addProblem({ code: "out_of_range", field: ["endpoints"], message, hint: "remove some", pointAt: "key" });
  }

  for (const [name, endpoint] of Object.entries(scenario.endpoints ?? {})) {
    if (endpoint !== null) continue;
    const field = ["endpoints", name];
    const message = `${quote(name)} removes nothing: no extended scenario has this endpoint`;
    const hint = "write an endpoint, or remove the line";
    addProblem({ code: "endpoint_contradiction", field, message, hint, pointAt: "key" });
  }

  const nameOfTarget = new Map<string, string>();
  for (const [name, { method = "GET", path }] of endpoints) {
    const target = `${method} ${formOfPath(path)}`;
    const first = nameOfTarget.get(target);
    if (first === undefined) {
      nameOfTarget.set(target, name);
      continue;
    }

    const field = facts.writtenLast(
      ["endpoints", name, "path"],
      ["endpoints", name, "method"],
      ["endpoints", first, "path"],
      ["endpoints", first, "method"],
    );
    // The message names the endpoint that the field is not of.
    const other = field[1] === name ? first : name;
    const message = `${quote(other)} already responds to ${method} ${path}`;
    const hint = "write another path or method, or remove one";
    addProblem({ code: "endpoint_contradiction", field, message, hint });
  }
};

const longestBody = 64 * 1024;
/** How much is read of a number's text: an exact one is shorter. */
export const longestSpelling = 100;

/** The numbers in bodies are sent, or compared with responses, exactly as they are written. */
const numbersAreExact: ScenarioRule = (facts) => {
  const { scenario, spelling, addProblem } = facts;
  for (const [field, number] of numbersOfBodies(scenario)) {
    const text = spelling(field) ?? String(number);
    if (/^[+-]?0\d/.test(text)) {
      const hint = "put a code or an id in quotes";
      addProblem({ code: "out_of_range", field, message: `${text} would lose its zeros`, hint });
    } else if (!isExact(number, text)) {
      const hint = "put it in quotes, or write another number";
      addProblem({ code: "out_of_range", field, message: `JSON has no exact number ${text}`, hint });
    }
  }
};

const bodiesFit: ScenarioRule = (facts) => {
  const { scenario, writtenLast, addProblem } = facts;
  for (const [name, { body, status }] of writtenEndpoints(scenario)) {
    if (body === undefined) continue;
    const bodyField = ["endpoints", name, "body"];
    if (status === 204) {
      const field = writtenLast(bodyField, ["endpoints", name, "status"]);
      const hint = "remove the body (below extends, with body: null), or write status: 200";
      addProblem({ code: "endpoint_contradiction", field, message: "a 204 has no body", hint });
    } else if (isTooLong(body)) {
      const message = `the body is longer than ${longestBody / 1024} KiB as JSON`;
      const hint = "shorten it; aliases (*) repeat";
      addProblem({ code: "endpoint_contradiction", field: bodyField, message, hint });
    }
  }
};

export const endpointRules: readonly ScenarioRule[] = [endpointsFit, numbersAreExact, bodiesFit];

/** Whether the text of a number in JSON, the shortest one, has the value of its text in the scenario. */
function isExact(value: number, text: string): boolean {
  if (!Number.isFinite(value) || text.length >= longestSpelling) return false;
  const isHexOrOctal = /^0[xo]/.test(text);
  const decimal = isHexOrOctal ? String(BigInt(text)) : text;
  return digitsOf(decimal) === digitsOf(String(value));
}

/** The digits of a decimal number without zeros around them, and the exponent of the last one. */
function digitsOf(text: string): string {
  const parts = /^[+-]?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  if (parts === null) return "";

  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const written = whole + fraction;
  const digits = written.replace(/0+$/, "");
  if (digits === "") return "";
  const zerosAtEnd = written.length - digits.length;
  const last = Number(exponent) - fraction.length + zerosAtEnd;
  return `${digits.replace(/^0+/, "")}e${last}`;
}

function isTooLong(body: unknown): boolean {
  let length = 0;
  // Aliases can repeat a long text a thousand times: what is too long is not written out.
  const text = JSON.stringify(body, (name, part) => {
    length += name.length + (typeof part === "string" ? part.length : 1);
    return length > longestBody ? undefined : part;
  });
  return length > longestBody || new TextEncoder().encode(text).length > longestBody;
}
