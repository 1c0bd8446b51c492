import { maximumOverlap } from "../domain/key.js";

// What a snapshot writes must be a time of a scenario, and those have years of four digits.
const first = Date.parse("0000-01-01T00:00:00Z");
const last = Date.parse("9999-12-31T23:59:59.999Z");

/** The last instant that a clock shows: overlaps that begin then still end in a year of four digits. */
export const lastClockInstant = last - maximumOverlap;

/** Whether epoch milliseconds are an instant that can be written down: whole, and in the years 0000 to 9999. */
export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= first && (value as number) <= last;
}

/** ISO 8601 of an instant; one after the year 9999, which no clock reaches, is written as the last one. */
export function isoOf(instant: number): string {
  return new Date(Math.min(instant, last)).toISOString();
}
