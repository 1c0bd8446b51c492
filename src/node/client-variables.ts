import { variableOf } from "../domain/api-key.js";
import { announcedKeys, defaultSecret, scenarioSecrets, secretsOf } from "../world/secrets.js";
import { secretFor } from "../world/story/run-step.js";
import type { World } from "../world/world.js";

/** The base URL of a sandbox, and of its control plane if it has one. */
export interface ClientAddresses {
  readonly url: string;
  readonly controlUrl: string | undefined;
}

/**
 * The environment variables for a client: addresses when it is served, the default key, the keys by their refs, and a key
 * that does not exist and one that is malformed, under the words that stories have for them.
 *
 * Of a large population some keys are left out, unless `all` is asked for: a process cannot be given them all.
 */
export function clientEnvironment(
  world: World,
  addresses?: ClientAddresses,
  { all = false } = {},
): Record<string, string> {
  const secrets = all ? scenarioSecrets(world) : secretsOf(announcedKeys(world).keys, world);
  const standard = defaultSecret(world);
  return {
    ...(addresses !== undefined && { SVC_BASE_URL: addresses.url }),
    ...(addresses?.controlUrl !== undefined && { SVC_CONTROL_URL: addresses.controlUrl }),
    ...(standard !== undefined && { SVC_API_KEY: standard }),
    ...Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [variableOf(name), secret])),
    [variableOf("unknown")]: secretFor(world, "unknown") as string,
    [variableOf("malformed")]: secretFor(world, "malformed") as string,
  };
}

type Variables = Readonly<Record<string, string>>;

/** Makes a function that puts each variable into words. */
export const linesOf = (line: (name: string, value: string) => string) => (variables: Variables) =>
  Object.entries(variables)
    .map(([name, value]) => line(name, value))
    .join("");

// Not every reader of .env files takes quotes off, and keys and addresses need none: a shell touches brackets (of an
// IPv6 address) only outside of an assignment.
/** The variables as lines that a shell and every reader of .env files understand. */
export const environmentLines = linesOf((name, value) => `${name}=${value}\n`);

/** The variables as lines for PowerShell. */
export const powershellLines = linesOf((name, value) => `$env:${name} = '${value}'\n`);
