import type { BundledKeyRefs, BundledOrganizationRefs, ScenarioName } from "../scenario/bundled.generated.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** What a sandbox can be made from: a bundled name, or a scenario as a value. */
export type ScenarioSource = ScenarioName | Scenario;

type OrganizationsIn<Value> = Value extends { readonly organizations: infer Organizations }
  ? (keyof Organizations & string) | InPopulation<Value, `organization-${number}`>
  : string;
type KeysIn<Value> = Value extends { readonly organizations: infer Organizations }
  ?
      | { [Ref in keyof Organizations]: KeysOf<Organizations[Ref]> }[keyof Organizations]
      | InPopulation<Value, `organization-${number}-key-${number}`>
  : string;
type InPopulation<Value, Ref> = Value extends { readonly population: object } ? Ref : never;
type KeysOf<Organization> = Organization extends { readonly keys: infer Keys } ? keyof Keys & string : never;

/** The refs of the keys of a scenario, as far as its type says them. */
export type KeyRef<Source> = Source extends ScenarioName ? BundledKeyRefs[Source] : KeysIn<Source>;

/** The refs of the organizations of a scenario, as far as its type says them. */
export type OrganizationRef<Source> = Source extends ScenarioName
  ? BundledOrganizationRefs[Source]
  : OrganizationsIn<Source>;

/** A ref that autocompletes to the known ones and may be another: keys made at run time have refs too. */
export type Known<Ref extends string> = Ref | (string & {});
