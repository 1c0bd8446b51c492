import { defaultKeyRef, scenarioSecrets, type World } from "../sandbox/world.js";

/** Where a client finds the sandbox. */
export interface Addresses {
  readonly url: string;
  readonly controlUrl: string | undefined;
}

/** The environment variables for a client: addresses when it is served, the default key, and every key by its ref. */
export function clientEnvironment(world: World, addresses?: Addresses): Record<string, string> {
  const secrets = scenarioSecrets(world);
  const ref = defaultKeyRef(world.scenario);
  const standard = ref === undefined ? undefined : secrets[ref];
  return {
    ...(addresses !== undefined && { SVC_BASE_URL: addresses.url }),
    ...(addresses?.controlUrl !== undefined && { SVC_CONTROL_URL: addresses.controlUrl }),
    ...(standard !== undefined && { SVC_API_KEY: standard }),
    ...Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [variableOf(name), secret])),
  };
}

/** The variable that holds the key of a ref: `SVC_KEY_RATE_LIMITED`. */
export function variableOf(ref: string): string {
  return `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`;
}

// Not every reader of .env files takes quotes off, and keys and addresses need none: a shell touches brackets (of an
// IPv6 address) only outside of an assignment.
/** The variables as lines that a shell and every reader of .env files understand. */
export function environmentLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
