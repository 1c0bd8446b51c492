import { builtIn, endpointsIn } from "../../src/api/endpoints.js";
import { allOutcomesOf } from "../../src/report/report.js";

/** The endpoints without the announced ones, and those that follow the first. */
export const released = endpointsIn({});
export const [, ...others] = builtIn.filter((one) => released.includes(one));

/** The number of outcomes that the released endpoints promise. */
export const promisedCount = allOutcomesOf(released).filter((row) => row.promised).length;

/** The promised outcomes that a client of the first endpoint can cover, and the other ones. */
export const ofFirst = allOutcomesOf(released.slice(0, 1)).flatMap(({ id, promised }) =>
  promised ? [id] : [],
);
export const ofOthers = allOutcomesOf(released).flatMap(({ id, promised }) =>
  promised && !ofFirst.includes(id) ? [id] : [],
);

/** The coverage of a client that has covered this many of the promised outcomes. */
export const coverage = (covered: number) => ({
  percent: Math.floor((covered * 100) / promisedCount),
  covered,
  promised: promisedCount,
});

/** The same as reports say it. */
export const coverageText = (covered: number) =>
  `Coverage ${coverage(covered).percent}%: ${covered} of ${promisedCount} promised outcomes covered`;
