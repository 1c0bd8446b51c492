import type { BundledKeyRefs, BundledOrganizationRefs } from "../scenario/bundled.generated.js";
import type { ScenarioName } from "../scenario/bundled.js";
import type { ReservedKeyRef } from "../scenario/format/fields.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";

// The refs that the compiler checks: types that read them from the type of a scenario. Of
//
//     { organizations: { bank: { keys: { main: … } } }, timeline: [{ at: "10m", rotate: { key: "main", as: "next" } }] }
//
// the organization refs are "bank", and the key refs "main" and "next". A type without known organizations, such as
// that of a loaded scenario, has any text.

/** The source of a sandbox: a bundled name, or a scenario as a value. */
export type ScenarioSource = ScenarioName | Scenario;

/** All that a sandbox can start with. */
export type SandboxSource = ScenarioSource | LoadedScenario;

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
      | (Value extends { readonly timeline: readonly (infer Step)[] } ? MadeBy<Step> : never)
  : string;

/** These refs if the scenario has a population; none otherwise. */
type InPopulation<Value, Ref> = Value extends { readonly population: object } ? Ref : never;

/** The refs of the keys of an organization: `"main"` for `{ keys: { main: … } }`. */
type KeysOf<Organization> = Organization extends { readonly keys: infer Keys } ? keyof Keys & string : never;

/** The ref of the key that a step makes: `"next"` for `{ rotate: { key: "main", as: "next" } }`. */
type MadeBy<Step> = Step extends { readonly create_key: { readonly ref: infer Ref extends string } }
  ? Ref
  : Step extends { readonly rotate: { readonly as: infer Ref extends string } }
    ? Ref
    : never;
