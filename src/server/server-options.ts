import { type SandboxOptions, sandboxOptions } from "../library/create-sandbox.js";
import type { ScenarioSource } from "../library/scenario-refs.js";
import { requireKnownOptions, validationError } from "../rules/validation.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { checkShape } from "../schema/check.js";
import { libraryNotation } from "../schema/notation.js";
import * as s from "../schema/shape.js";
import { quote } from "../schema/words.js";
import type { ServerSettings } from "./serve-options.js";

// An editor suggests the bundled names only with `string & {}` in place of `string`.
export interface ServerOptions<Source = ScenarioSource | (string & {})>
  extends Partial<ServerSettings>,
    Omit<SandboxOptions, "scenario"> {
  /** A bundled name, a scenario file, also as a URL, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: Source;
  /** Default: 0, any free port. */
  readonly port?: number;
  /**
   * A file that keeps the sandbox for the next start, with its requests. If it exists, the sandbox continues
   * from it and ignores the options `seed`, `now`, `frozen` and `profile`. Default: none.
   */
  readonly state?: string | URL;
}

/** What the option `scenario` may be, in any of the signatures. */
export type ServerSource = ServerOptions["scenario"] | LoadedScenario | URL;

/** The shapes of the options that only a server has. */
const shapesOfOptions = {
  port: s.optional(s.integer({ max: 65_535 })),
  host: s.optional(s.text({ min: 1 })),
  explain: s.optional(s.flag()),
  control: s.optional(s.flag()),
  controlToken: s.optional(s.text()),
  tls: s.optional(s.either(s.flag(), s.openMapping({}))),
  allowHosts: s.optional(s.list(s.text())),
};

/** All options: those with a shape here, and those that are checked by the code that reads them. */
const namesOfOptions: readonly string[] = [
  ...sandboxOptions,
  ...Object.keys(shapesOfOptions),
  "state",
  "publicUrl",
  "onDefect",
];

/** Throws `validation_failed` for an option of the server that is not valid. */
export function requireOptions(options: Omit<ServerOptions, "scenario">): void {
  requireKnownOptions("start the server", options, namesOfOptions);
  const withShape = Object.entries(options).filter(([name]) => Object.hasOwn(shapesOfOptions, name));
  const { problems } = checkShape(s.mapping(shapesOfOptions), Object.fromEntries(withShape), libraryNotation);
  if (problems.length > 0) throw validationError("start the server", problems);

  const { onDefect } = options;
  if (onDefect !== undefined && typeof onDefect !== "function") {
    const message = `onDefect must be a function, not ${quote(onDefect)}`;
    throw validationError("start the server", [{ field: ["onDefect"], message }]);
  }
}
