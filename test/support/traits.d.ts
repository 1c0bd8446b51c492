/** A response as a planted client reads it. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
}

/** By row of the variation table, the status on which it is looked for, and the form that a response has. */
export const traits: Readonly<
  Record<string, readonly [status: number, formOf: (response: ReadResponse) => string | undefined]>
>;

/** Whether a response has a trait, given as `row:variant`. */
export function hasTrait(trait: string, response: ReadResponse): boolean;
