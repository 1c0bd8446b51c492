import { controlPath } from "../rules/known-paths.js";
import { standardHost } from "./control-address.js";
import { isExecutable } from "./executable.js";

/**
 * Where the user reads a page of the documentation, for a message: in the installed package; who has only the executable
 * has no files, and reads the pages of a sandbox. `part` is a heading of the page.
 */
export function docsPlace(page: string, part?: string): string {
  const anchor = part === undefined ? "" : `#${part}`;
  if (!isExecutable()) return `docs/${page}.md${anchor} in the package`;
  return `${servedDocs}/${page}${anchor} of a running sandbox`;
}

/** The address of the documentation in a sandbox that `start` serves. */
export const servedDocs = `http://${standardHost}${controlPath}/docs`;
