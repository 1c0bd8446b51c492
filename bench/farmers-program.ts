import { faker } from "@faker-js/faker/locale/en";
import type { Farmer } from "../src/synthetic/farmers/farmer-schema.js";
import { farmerAt } from "../src/synthetic/farmers/farmers.js";
import type { FarmersOrder, FarmersReading } from "./messages.js";

const source = { seed: 1, start: Date.UTC(2026, 2, 2, 9) };

/** How many times each second the work can be done. */
function perSecond(times: number, work: (time: number) => unknown): number {
  const begun = performance.now();
  for (let time = 0; time < times; time++) work(time);
  return (times * 1000) / (performance.now() - begun);
}

/** How many texts, numbers and other values a record holds, all its parts included. */
function countValues(value: unknown, counts = { texts: 0, numbers: 0, others: 0 }) {
  if (typeof value === "string") counts.texts++;
  else if (typeof value === "number") counts.numbers++;
  else if (typeof value !== "object" || value === null) counts.others++;
  else for (const member of Object.values(value)) countValues(member, counts);
  return counts;
}

const likeness = Array.from({ length: 200 }, (_, index) => countValues(farmerAt(source, index)));

/** As many values of each kind as the farmer at this index holds, with nothing that hangs together. */
function drawWithFaker(index: number): unknown[] {
  const { texts, numbers, others } = likeness[index % likeness.length] as (typeof likeness)[number];
  const values: unknown[] = [];
  for (let i = 0; i < texts; i++) values.push(faker.person.lastName());
  for (let i = 0; i < numbers; i++) values.push(faker.number.float({ max: 1000, fractionDigits: 2 }));
  for (let i = 0; i < others; i++) values.push(faker.datatype.boolean());
  return values;
}

// Farmers differ in how much they have: the same ones are read at both ends, turn by turn.
function timeOfIndex(calls: number, index: (call: number) => Farmer): number {
  return 1 / perSecond(calls, index);
}

function measure({ farmers }: FarmersOrder): FarmersReading {
  return {
    farmers: perSecond(farmers, (index) => farmerAt(source, index)),
    faker: perSecond(farmers, drawWithFaker),
    first: timeOfIndex(farmers, (call) => farmerAt(source, call % 1000)),
    last: timeOfIndex(farmers, (call) => farmerAt(source, 999_000 + (call % 1000))),
  };
}

process.on("message", (order: FarmersOrder) => process.send?.(measure(order)));
