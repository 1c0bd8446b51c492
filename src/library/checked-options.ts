import type { WithKnownFields } from "./known-fields.js";
import type { ScenarioSource } from "./scenario-refs.js";

// The options of `createSandbox`, `startServer` and `sandboxTest`, whose signatures differ only in the refs that the compiler then
// checks:
//
//     the option `scenario`                refs                      type of the options
//     a bundled name, or a value           those of the scenario     OptionsWithSource
//     none                                 those of `key-states`     with `never` as the source
//     a loaded scenario or a file          any text                  OptionsOf
//     in options that a variable has       any text                  OptionsOf

/**
 * Options with a scenario whose type the compiler infers, and whose fields it checks: in `createSandbox({ scenario: { version: 1 } })`,
 * the source is `{ version: 1 }`. With `Omit`, an editor suggests the fields of a scenario.
 */
export type OptionsWithSource<Options, Source, AnySource = ScenarioSource> = Omit<Options, "scenario"> & {
  readonly scenario: Source & WithKnownFields<Source, AnySource>;
};

/** Options whose type the compiler infers as a whole. If they have a scenario, it checks the scenario's fields. */
export type OptionsOf<
  Options extends { readonly scenario?: unknown },
  AnySource = ScenarioSource,
> = Options & {
  readonly scenario?: WithKnownFields<Options["scenario"], AnySource>;
};
