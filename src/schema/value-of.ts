import type { Fields, Optional } from "./shape-kinds.js";

// The TypeScript type of what a shape describes.

/** The type of the values of a shape. */
export type ValueOf<Of> = Of extends { readonly Value?: infer Value } ? Value : never;

/** The type of a mapping with these fields: `{ readonly ref: string; readonly name?: string | undefined }`. */
export type MappingValue<Of extends Fields> = Flattened<
  RequiredFields<Of, RequiredNames<Of>> & OptionalFields<Of, OptionalNames<Of>>
>;

/** The names of the optional fields. */
type OptionalNames<Of extends Fields> = {
  [Name in keyof Of]: Of[Name] extends Optional ? Name : never;
}[keyof Of];

/** The names of all other fields. */
type RequiredNames<Of extends Fields> = Exclude<keyof Of, OptionalNames<Of>>;

// The names are a parameter that extends `keyof Of`: only so do the fields keep their doc comments.
type RequiredFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]: ValueOf<Of[Name]>;
};
type OptionalFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]?: (Of[Name] extends Optional<infer Inner> ? ValueOf<Inner> : never) | undefined;
};

/** The same type as one list of members: editors show these, and not how the type is made. */
type Flattened<Value> = Value extends infer Members ? { [Name in keyof Members]: Members[Name] } : never;
