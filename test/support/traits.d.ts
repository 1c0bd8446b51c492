/** An answer as a planted client reads it. */
export interface ReadAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
}

/** By row of the variation table, the status on which it is looked for, and the form that an answer has. */
export const traits: Readonly<
  Record<string, readonly [status: number, formOf: (answer: ReadAnswer) => string | undefined]>
>;

/** Whether an answer has a trait, given as `row:variant`. */
export function hasTrait(trait: string, answer: ReadAnswer): boolean;
