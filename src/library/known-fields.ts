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
export type WithKnownFields<Value, Wanted> = unknown extends Wanted
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
