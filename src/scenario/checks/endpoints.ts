import { formOfPath } from "../../rules/request-path.js";
import { quote } from "../../rules/schema/words.js";
import { endpointsWritten } from "../endpoints.js";
import type { ScenarioRule } from "./facts.js";

const maxEndpoints = 100;
const longestBody = 64 * 1024;

export const endpointsFit: ScenarioRule = ({ scenario, wrong }) => {
  const written = endpointsWritten(scenario);
  if (written.length > maxEndpoints) {
    const message = `the scenario has ${written.length} endpoints, and at most ${maxEndpoints} are allowed`;
    wrong("out_of_range", ["endpoints"], message, "remove some", "key");
  }
  for (const [name, endpoint] of Object.entries(scenario.endpoints ?? {})) {
    if (endpoint !== null) continue;
    const message = `${quote(name)} removes nothing: no extended scenario has this endpoint`;
    wrong(
      "endpoint_contradiction",
      ["endpoints", name],
      message,
      "write an endpoint, or remove the line",
      "key",
    );
  }
  const names = new Map<string, string>();
  for (const [name, { method = "GET", path, status, body }] of written) {
    const at = ["endpoints", name];
    const target = `${method} ${formOfPath(path)}`;
    const first = names.get(target);
    names.set(target, first ?? name);
    if (first !== undefined) {
      const message = `${quote(first)} already responds to ${method} ${path}`;
      wrong(
        "endpoint_contradiction",
        [...at, "path"],
        message,
        "write another path or method, or remove one",
      );
    }
    const problem = body === undefined ? undefined : bodyProblem(body, status);
    if (problem !== undefined) wrong("endpoint_contradiction", [...at, "body"], ...problem);
  }
};

function bodyProblem(body: unknown, status: number | undefined): [message: string, hint: string] | undefined {
  if (status === 204) return ["a 204 has no body", "remove the body, or write status: 200"];
  let length = 0;
  let isJson = true;
  // Aliases can repeat a long text a thousand times: what is too long is not written out.
  const text = JSON.stringify(body, (name, part) => {
    length += name.length + (typeof part === "string" ? part.length : 1);
    isJson &&= typeof part !== "number" || Number.isFinite(part);
    return length > longestBody ? undefined : part;
  });
  if (!isJson) return ["the body has a number that JSON does not have", "write another number, or null"];
  if (length <= longestBody && new TextEncoder().encode(text).length <= longestBody) return undefined;
  return [`the body is longer than ${longestBody / 1024} KiB as JSON`, "shorten it; aliases (*) repeat"];
}
