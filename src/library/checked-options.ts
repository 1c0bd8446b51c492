import type { ScenarioSource } from "./scenario-refs.js";

// The options of `createSandbox`, `startServer` and `sandboxTest`, whose signatures differ only in the refs that the compiler then
// checks:
//
//     the option `scenario`                refs                      type of the options
//     a bundled name, or a value           those of the scenario     OptionsWithSource
//     none                                 those of `key-states`     with `never` as the source
//     a loaded scenario or a file          any text                  OptionsOf
//     in options that a variable has       any text                  OptionsOf
//
// They are written for editors. An editor suggests the fields of a scenario only with `Omit` in place of the whole options, where it
// would suggest the methods of a text. In the second signature, any other type than `never` would be the only name that it suggests.

/**
 * Options with a scenario whose type the compiler infers, and whose fields it checks: in `createSandbox({ scenario: { version: 1 } })`,
 * the source is `{ version: 1 }`.
 */
export type OptionsWithSource<Options, Source, AnySource = ScenarioSource> = Omit<Options, "scenario"> & {
  readonly scenario: Source & WithKnownFields<Source, AnySource>;
};

/** Options whose type the compiler infers, and the fields of whose scenario it checks, if there is one. */
export type OptionsOf<
  Options extends { readonly scenario?: unknown },
  AnySource = ScenarioSource,
> = Options & {
  readonly scenario?: WithKnownFields<Options["scenario"], AnySource>;
};

/**
 * A value without fields that the wanted type does not have, because the compiler does not check them in inferred types. Such a
 * field must be a text that nobody writes, which the compiler's error shows: for `{ seed: 1, sed: 2 }` and a scenario, the type is
 * `{ seed: unknown; sed: "unknown field sed" }`. In a field that may have anything, such as `x-limits`, nothing is checked.
 */
type WithKnownFields<Value, Wanted> = unknown extends Wanted
  ? unknown
  : Value extends object
    ? {
        readonly [Name in keyof Value]: FieldOf<Wanted, Name> extends never // only a type sees them all
          ? `unknown field ${Name & string}`
          : WithKnownFields<Value[Name], FieldOf<Wanted, Name>>;
      }
    : unknown;

/**
 * The type of a field: for `{ seed: number }` and `"seed"`, it is `number`, and for `"sed"` it is `never`. Of a union, each type is
 * looked at by itself, so that a field of one of them is known. In a list, each field is an item.
 */
type FieldOf<Wanted, Name> = Wanted extends readonly (infer Item)[]
  ? Item
  : Wanted extends object
    ? Name extends keyof Wanted
      ? Wanted[Name]
      : never
    : never;
