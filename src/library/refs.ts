import type { bundledScenarios, ScenarioName } from "../scenario/bundled.generated.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** What a sandbox can be made from: a bundled name, or a scenario as a value. */
export type ScenarioSource = ScenarioName | Scenario;

type BundledKeys = { [Name in ScenarioName]: KeysIn<(typeof bundledScenarios)[Name]> };
type BundledOrganizations = { [Name in ScenarioName]: OrganizationsIn<(typeof bundledScenarios)[Name]> };

type OrganizationsIn<Value> = Value extends { readonly organizations: infer Organizations }
  ? keyof Organizations & string
  : string;
type KeysIn<Value> = Value extends { readonly organizations: infer Organizations }
  ? { [Ref in keyof Organizations]: KeysOf<Organizations[Ref]> }[keyof Organizations]
  : string;
type KeysOf<Organization> = Organization extends { readonly keys: infer Keys } ? keyof Keys & string : never;

/** The refs of the keys of a scenario, as far as its type says them. */
export type KeyRef<Source> = Source extends ScenarioName ? BundledKeys[Source] : KeysIn<Source>;

/** The refs of the organizations of a scenario, as far as its type says them. */
export type OrganizationRef<Source> = Source extends ScenarioName
  ? BundledOrganizations[Source]
  : OrganizationsIn<Source>;

/** A ref that autocompletes to the known ones and may be another: keys made at run time have refs too. */
export type Known<Ref extends string> = Ref | (string & {});
