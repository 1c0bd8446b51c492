import type { BundledKeyRefs, BundledOrganizationRefs } from "../scenario/bundled.generated.js";
import type { ScenarioName } from "../scenario/bundled.js";
import type { ReservedKeyRef } from "../scenario/format/fields.js";
import type { Scenario } from "../scenario/scenario.generated.js";

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

// The compiler does not check for unknown fields in a type that it infers, so that these types do. Some results of `WithKnownFields`:
//
//     Value                    Wanted                             the result
//     { seed: 1 }              { seed?: number }                  { seed: unknown }
//     { seed: 1, sed: 2 }      { seed?: number }                  { seed: unknown, sed: "unknown field sed" }
//     { revoke: "main" }       { pause: true } | { revoke: Ref }  { revoke: unknown }
//     [{ sed: 2 }]             readonly { seed?: number }[]       [{ sed: "unknown field sed" }]
//
// A value must have both its own type and the result. `unknown` accepts anything. No value is the text `unknown field sed`, so that the
// field is an error, in which the compiler shows the text.

/** What a value of the type `Value` must be in addition, so that it has no field that `Wanted` does not have. */
type WithKnownFields<Value, Wanted> = unknown extends Wanted
  ? unknown // such as the wanted type of `x-limits`
  : Value extends object
    ? { readonly [Name in keyof Value]: KnownField<Name, Value[Name], FieldOf<Wanted, Name>> }
    : unknown; // a text, a number or a flag has no fields

/** What the field with a name must be in addition. `Wanted`: its wanted type; `never` if the field is unknown. */
type KnownField<Name, Value, Wanted> = [Wanted] extends [never]
  ? `unknown field ${Name & string}`
  : WithKnownFields<Value, Wanted>;

/**
 * The wanted type of a field: for `{ seed: number }`, it is `number` for `"seed"`, and `never` for `"sed"`. For a union, it is the union of
 * the results for its members, to which the compiler applies a conditional type one by one. The fields of a list are its items.
 */
type FieldOf<Wanted, Name> = Wanted extends readonly (infer Item)[]
  ? Item
  : Wanted extends object
    ? Wanted[Name & keyof Wanted]
    : never;

// The refs that the compiler checks: types that read them from the type of a scenario. Of
//
//     { organizations: { bank: { keys: { main: … } } }, timeline: [{ at: "10m", rotate: { key: "main", as: "next" } }] }
//
// the organization refs are "bank", and the key refs "main" and "next". A type without known organizations has any text.

/** The source of a sandbox: a bundled name, or a scenario as a value. */
export type ScenarioSource = ScenarioName | Scenario;

/** The refs of the keys that a scenario has, as far as its type contains them. */
export type ScenarioKeyRef<Source> = Source extends ScenarioName ? BundledKeyRefs[Source] : KeysIn<Source>;

/** The refs that `secret` accepts for a scenario, as far as its type contains them. */
export type KeyRef<Source> = ScenarioKeyRef<Source> | Exclude<ReservedKeyRef, "none">;

/** The organization refs of a scenario, as far as its type contains them. */
export type OrganizationRef<Source> = Source extends ScenarioName
  ? BundledOrganizationRefs[Source]
  : OrganizationsIn<Source>;

/** The organization refs in the type of a scenario value: those that it lists, and those of its population. */
type OrganizationsIn<Value> = Value extends { readonly organizations: infer Organizations }
  ? (keyof Organizations & string) | InPopulation<Value, `organization-${number}`>
  : string;

/** The key refs in the type of a scenario value: those that it lists, those of its population, and those that its timeline makes. */
type KeysIn<Value> = Value extends { readonly organizations: infer Organizations }
  ?
      | KeysOf<Organizations[keyof Organizations]>
      | InPopulation<Value, `organization-${number}-key-${number}`>
      | MadeInTimeline<Value>
  : string;

/** These refs if the scenario has a population; none otherwise. */
type InPopulation<Value, Ref> = Value extends { readonly population: object } ? Ref : never;

/** The refs of the keys of an organization: `"main"` for `{ keys: { main: … } }`. */
type KeysOf<Organization> = Organization extends { readonly keys: infer Keys } ? keyof Keys & string : never;

/** The refs of the keys that the steps of a scenario's timeline make. */
type MadeInTimeline<Value> = Value extends { readonly timeline: readonly (infer Step)[] }
  ? MadeBy<Step>
  : never;

/** The ref of the key that a step makes: `"next"` for `{ rotate: { key: "main", as: "next" } }`. */
type MadeBy<Step> = Step extends { readonly create_key: { readonly ref: infer Ref extends string } }
  ? Ref
  : Step extends { readonly rotate: { readonly as: infer Ref extends string } }
    ? Ref
    : never;
