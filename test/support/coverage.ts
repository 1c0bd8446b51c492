import { builtIn, endpointsIn, outcomesOf } from "../../src/api/endpoints.js";
import { createSandbox } from "../../src/index.js";

/** The endpoints without the announced ones, and those that follow the first. */
export const released = endpointsIn({});
export const [, ...others] = builtIn.filter((one) => released.includes(one));

/** The number of paths that the released endpoints promise. */
export const promisedCount = outcomesOf(released).filter((row) => row.promised).length;

/** The promised paths that a client of the first endpoint can cover, and the other ones. */
export const ofFirst = outcomesOf(released.slice(0, 1)).flatMap(({ pathId, promised }) =>
  promised ? [pathId] : [],
);
export const ofOthers = outcomesOf(released).flatMap(({ pathId, promised }) =>
  promised && !ofFirst.includes(pathId) ? [pathId] : [],
);

/** The promised paths that no key of `key-states` covers, because none has the scope. */
export const withoutScope = createSandbox()
  .report()
  .paths.flatMap(({ promised, pathId, howToCover }) => (promised && howToCover?.scopes ? [pathId] : []));

/** The coverage of a client that has covered this many of the promised paths. */
export const coverage = (covered: number) => ({
  percent: Math.floor((covered * 100) / promisedCount),
  covered,
  promised: promisedCount,
});

/** The same as reports say it. */
export const coverageText = (covered: number) =>
  `Coverage ${coverage(covered).percent}%: ${covered} of ${promisedCount} promised paths covered`;
