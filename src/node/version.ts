import { createRequire } from "node:module";

// Read at run time, so that a release is one changed line; both `src/node` and the built files lie two folders
// below the package.
/** The version of svc-sandbox. */
export const version: string = (createRequire(import.meta.url)("../../package.json") as { version: string })
  .version;
