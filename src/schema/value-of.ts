import type { Fields, Optional } from "./shape-kinds.js";

// The TypeScript type of what a shape describes.

/** The type of the values of a shape. */
export type ValueOf<Of> = Of extends { readonly Value?: infer Value } ? Value : never;

/** The type of a mapping with these fields: `{ readonly ref: string; readonly name?: string | undefined }`. */
export type MappingValue<Of extends Fields> = Shown<
  RequiredFields<Of, Exclude<keyof Of, OptionalNames<Of>>> & OptionalFields<Of, OptionalNames<Of>>
>;

/** The names of the optional fields. */
type OptionalNames<Of extends Fields> = {
  [Name in keyof Of]: Of[Name] extends Optional ? Name : never;
}[keyof Of];

// `Names extends keyof Of` keeps the doc comments of the fields, which `Pick` or `Exclude` in place of `Names` would lose.
type RequiredFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]: ValueOf<Of[Name]>;
};
type OptionalFields<Of extends Fields, Names extends keyof Of> = {
  readonly [Name in Names]?: (Of[Name] extends Optional<infer Inner> ? ValueOf<Inner> : never) | undefined;
};

/** The same type, which editors then show with its members, not with its derivation. */
type Shown<Value> = Value extends infer Members ? { [Name in keyof Members]: Members[Name] } : never;
