import { formOfPath } from "../../rules/request-path.js";
import { quote } from "../../rules/schema/words.js";
import { endpointsWritten } from "../endpoints.js";
import type { ScenarioRule } from "./facts.js";

const maxEndpoints = 100;

export const endpointsFit: ScenarioRule = ({ scenario, latest, wrong }) => {
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
  for (const [name, { method = "GET", path }] of written) {
    const target = `${method} ${formOfPath(path)}`;
    const first = names.get(target);
    names.set(target, first ?? name);
    if (first !== undefined) {
      const fieldsOf = (one: string) =>
        [
          ["endpoints", one, "path"],
          ["endpoints", one, "method"],
        ] as const;
      const at = latest(...fieldsOf(name), ...fieldsOf(first));
      const message = `${quote(at[1] === name ? first : name)} already responds to ${method} ${path}`;
      wrong("endpoint_contradiction", at, message, "write another path or method, or remove one");
    }
  }
};
