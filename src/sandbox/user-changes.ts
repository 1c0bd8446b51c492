/** Values of a sandbox as texts to compare, by names such as `key main name`. */
export type NamedValues = Readonly<Record<string, string>>;

/** The text of a value that is not there. */
export const noValue = "";

/**
 * What users have changed in a sandbox since its start: of each such value, what it would be without them.
 *
 * | who sets a value | from | to | noted after it                                |
 * |------------------|------|----|-----------------------------------------------|
 * | a user           | A    | B  | A                                             |
 * | a user           | B    | A  | nothing: it is A without users, too           |
 * | a user           | A    | B  | A                                             |
 * | a step           | B    | C  | nothing: the step would set it to C, in any case |
 */
export class UserChanges {
  readonly #valuesWithoutUsers: Map<string, string>;

  constructor(entries: Iterable<readonly [name: string, valueWithoutUsers: string]> = []) {
    this.#valuesWithoutUsers = new Map(entries);
  }

  get size(): number {
    return this.#valuesWithoutUsers.size;
  }

  entries(): Iterable<[name: string, valueWithoutUsers: string]> {
    return this.#valuesWithoutUsers.entries();
  }

  /** Notes what differs after a user's change. */
  noteUser(before: NamedValues, after: NamedValues): void {
    for (const [name, value] of Object.entries(after)) {
      const valueBefore = before[name] ?? noValue;
      if (value === valueBefore) continue;

      const noted = this.#valuesWithoutUsers.get(name);
      if (noted === undefined) this.#valuesWithoutUsers.set(name, valueBefore);
      if (noted === value) this.#valuesWithoutUsers.delete(name);
    }
  }

  /** Forgets what differs after a step of the scenario, and the values that it has set to what they were before. */
  noteStep(before: NamedValues, after: NamedValues, namesOfSetValues: readonly string[] = []): void {
    for (const [name, value] of Object.entries(after)) {
      const isChanged = value !== (before[name] ?? noValue);
      if (isChanged || namesOfSetValues.includes(name)) this.#valuesWithoutUsers.delete(name);
    }
  }
}
