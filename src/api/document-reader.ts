import { SandboxError } from "../rules/errors.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { builtIn } from "./endpoints.js";

/** Reads the document of a scenario next to the built-in endpoints. Throws a `ScenarioError`. */
export interface DocumentReader {
  /** All endpoints: the same list for the same document. Reports names that the document lacks. */
  readonly endpoints: (
    scenario: Pick<Scenario, "openapi" | "examples" | "faults">,
    report?: (mistake: ScenarioMistake) => void,
  ) => readonly Endpoint[];
  /** The number of its operations, and what a person should know, with the scopes that none of these keys has. */
  readonly notes: (
    scenario: Pick<Scenario, "openapi">,
    scopes: ReadonlySet<string>,
  ) => { readonly operations: number; readonly notes: readonly string[] };
  /** What a certificate shows of the document. */
  readonly info: (scenario: Pick<Scenario, "openapi">) => {
    readonly title: string;
    readonly version: string;
  };
}

/** The same list for the same scenario. A document needs its reader, whose libraries few sandboxes need. */
export function endpointsIn(
  scenario: Scenario,
  read?: DocumentReader,
  report?: (mistake: ScenarioMistake) => void,
): readonly Endpoint[] {
  if (scenario.openapi === undefined) return builtIn;
  if (read !== undefined) return read.endpoints(scenario, report);
  throw new SandboxError(
    "usage",
    'The scenario has an OpenAPI document, and no reader of documents was passed. Write createSandbox({ openapi: readOpenApi(), … }), with readOpenApi of "svc-sandbox/openapi".',
    { part: "openapi" },
  );
}
