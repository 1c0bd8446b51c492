// Exact, so that no release of a package changes our results; updated manually.
/** The packages that the cells are made of. */
export const versions = {
  /** The oldest msw that `svc-sandbox/msw` works with, and the oldest for the user's own handlers. */
  mswOldest: "msw@2.0.0",
  mswOldestHandlers: "msw@2.10.0",
  /** The last msw whose packages are all CommonJS: what Jest loads in its default setup. */
  mswCommonJs: "msw@2.11.2",
  msw2: "msw@2.15.0",
  /** Needs Node 22.12 or later. */
  msw3: "msw@3.0.5",
  /** The oldest undici that works, and the newest of each later major. */
  undiciOldest: "undici@5.20.0",
  undici6: "undici@6.29.1",
  undici7: "undici@7.30.2",
  /** Needs Node 22.19 or later. */
  undici8: "undici@8.12.4",
  playwrightOldest: "@playwright/test@1.18.0",
  playwright: "@playwright/test@1.65.1",
  jest: "jest@30.5.2",
  jestJsdom: "jest-fixed-jsdom@0.0.11",
  babelCommonJs: "@babel/plugin-transform-modules-commonjs@7.29.14",
  /** The oldest vitest that works. */
  vitest3: "vitest@3.2.0",
  vitest4: "vitest@4.1.12",
  jsdom26: "jsdom@26.1.0",
  /** Needs Node 22.12 or later. */
  vitest5: "vitest@5.1.0",
  jsdom31: "jsdom@31.0.1",
  bun: "bun@1.4.5",
  deno: "deno@2.9.6",
} as const;

/** The majors of Node that the package supports. */
export const nodeMajors = [20, 22, 24, 26] as const;

export type NodeMajor = (typeof nodeMajors)[number];
