import { resolve } from "node:path";
import { controlPath } from "../rules/known-paths.js";
import { quote } from "../schema/words.js";
import { usageError } from "./exit-codes.js";
import { type FlagValues, isPort } from "./flags.js";
import { type Io, isExecutable } from "./io.js";
import type { callFlags } from "./shared-flags.js";

/** Where `start` listens by default. */
export const standardHost = "127.0.0.1:4747";

const standardUrl = `http://${standardHost}`;

/** The help of an argument or a flag that names a running sandbox. */
export const runningUrlText = `the sandbox's base URL or control URL (default: SVC_CONTROL_URL, or ${standardUrl})`;

export const defaultTimeoutMs = 10_000;

/** Where a running sandbox is, and how to call it. */
export function controlAddress(
  url: string | undefined,
  flags: FlagValues<typeof callFlags>,
  { env, cwd }: Io,
) {
  if (url !== undefined && isPort(url)) {
    throw usageError(`${quote(url)} is a port, not a URL. Did you mean http://127.0.0.1:${url}?`);
  }
  // A message about a wrong token names where it is from.
  const isFromVariable = flags.controlToken === env.SVC_SANDBOX_CONTROL_TOKEN;
  return {
    url: url ?? (env.SVC_CONTROL_URL || standardUrl),
    token: flags.controlToken,
    tokenFrom: isFromVariable ? "SVC_SANDBOX_CONTROL_TOKEN" : "--control-token",
    ca: flags.ca === undefined ? undefined : resolve(cwd, flags.ca),
    timeout: flags.timeout ?? defaultTimeoutMs,
  };
}

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
const servedDocs = `http://${standardHost}${controlPath}/docs`;
