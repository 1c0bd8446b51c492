import { outcomes } from "../../src/spec/outcomes.js";

/** The number of paths that the specification promises. */
export const promisedCount = outcomes.filter((row) => row.promised).length;

/** The coverage of a client that has met this many of the promised paths. */
export const coverage = (met: number) => ({
  percent: Math.floor((met * 100) / promisedCount),
  met,
  promised: promisedCount,
});

/** The same as reports say it. */
export const coverageText = (met: number) =>
  `Coverage ${coverage(met).percent}%: ${met} of ${promisedCount} promised paths covered`;
