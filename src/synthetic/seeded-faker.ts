import { faker as shared } from "@faker-js/faker/locale/en";
import { drawsFor } from "../domain/seed.js";

/** An instance of faker with English data. */
export type SeededFaker = typeof shared;

interface SeededFakerOptions {
  readonly locale: SeededFaker["rawDefinitions"];
  readonly randomizer: { next(): number; seed(): void };
}

// Faker's class is exported only beside all of its locales, which take six times as long to load; every instance
// knows its class.
const Faker = shared.constructor as new (options: SeededFakerOptions) => SeededFaker;

// Some of faker's dates count from "now", which is the wall clock unless told otherwise.
const referenceDate = "2026-01-01T00:00:00Z";

/**
 * A faker of its own for one thing to invent, which draws from the stream of the seed and the labels.
 *
 * Never shared: one more draw from a shared instance would change everything that is invented after it.
 *
 * @example
 * seededFaker(1, "organization.name", "harvest-bank").person.lastName(); // the same name in every process
 */
export function seededFaker(seed: number, ...labels: readonly string[]): SeededFaker {
  const draw = drawsFor(seed, ...labels);
  const randomizer = { next: () => draw() / 4_294_967_296, seed: refuseSeed };
  const faker = new Faker({ locale: shared.rawDefinitions, randomizer });
  faker.setDefaultRefDate(referenceDate);
  return faker;
}

function refuseSeed(): never {
  throw new Error("a seeded faker has its seed already; ask seededFaker for another one");
}
