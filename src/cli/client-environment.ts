import { variableOf } from "../domain/key.js";
import { announcedKeys, defaultSecret, scenarioSecrets, secretsOf } from "../sandbox/secrets.js";
import type { World } from "../sandbox/world.js";

/** Where a client finds the sandbox. */
export interface Addresses {
  readonly url: string;
  readonly controlUrl: string | undefined;
}

/**
 * The environment variables for a client: addresses when it is served, the default key, and the keys by their refs.
 *
 * Of a large population some keys are left out, unless `all` is asked for: a process cannot be given them all.
 */
export function clientEnvironment(
  world: World,
  addresses?: Addresses,
  { all = false } = {},
): Record<string, string> {
  const secrets = all ? scenarioSecrets(world) : secretsOf(announcedKeys(world).keys, world);
  const standard = defaultSecret(world);
  return {
    ...(addresses !== undefined && { SVC_BASE_URL: addresses.url }),
    ...(addresses?.controlUrl !== undefined && { SVC_CONTROL_URL: addresses.controlUrl }),
    ...(standard !== undefined && { SVC_API_KEY: standard }),
    ...Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [variableOf(name), secret])),
  };
}

// Not every reader of .env files takes quotes off, and keys and addresses need none: a shell touches brackets (of an
// IPv6 address) only outside of an assignment.
/** The variables as lines that a shell and every reader of .env files understand. */
export function environmentLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
