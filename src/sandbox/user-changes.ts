/** Values of a sandbox as texts to compare, by names such as `key main expiresAt`. */
export type NamedValues = Readonly<Record<string, string>>;

/**
 * What users have changed in a sandbox since its start: of each such value, what it would be without them. The first change by a
 * user notes the value before it. The note is forgotten when a user sets the value back to the noted one, or when a step sets it to
 * whatever.
 *
 * An example, in the order of the changes of a value:
 *
 * | who sets it | from | to | noted after it                                   |
 * |-------------|------|----|--------------------------------------------------|
 * | a user      | A    | B  | A                                                |
 * | a user      | B    | A  | nothing: it is A without users, too              |
 * | a user      | A    | C  | A                                                |
 * | a step      | C    | D  | nothing: the step would set it to D, in any case |
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

  /** Notes the values that a user has set: as they were before, and as they are after. */
  noteSetByUser(before: NamedValues, after: NamedValues): void {
    for (const [name, value] of Object.entries(after)) {
      const valueBefore = before[name] ?? "";
      if (value === valueBefore) continue;

      const noted = this.#valuesWithoutUsers.get(name);
      if (noted === undefined) this.#valuesWithoutUsers.set(name, valueBefore);
      else if (noted === value) this.#valuesWithoutUsers.delete(name);
    }
  }

  /** Notes that a user has moved the clock. It never runs backwards, so nothing takes that back. */
  noteClockMoved(): void {
    this.#valuesWithoutUsers.set("clock", "not moved");
  }

  /** Forgets the values that a step of the scenario has set. */
  forgetSetByStep(names: Iterable<string>): void {
    for (const name of names) this.#valuesWithoutUsers.delete(name);
  }
}
