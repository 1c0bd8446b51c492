/** A value that is filled member by member, until it is passed on as readonly. */
export type Writable<Whole> = { -readonly [Name in keyof Whole]: Whole[Name] };
