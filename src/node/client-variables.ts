import { variableOf } from "../rules/api-key.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { announcedKeys, defaultSecret, secretsForClients } from "../sandbox/secrets.js";

interface ClientAddresses {
  readonly url: string;
  readonly controlUrl: string | undefined;
}

/** Leaves out some keys of a large population unless `all` is set, because a process cannot get them all. */
export function clientEnvironment(
  sandbox: SandboxState,
  addresses?: ClientAddresses,
  { all = false } = {},
): Record<string, string> {
  const secrets = secretsForClients(sandbox, all ? undefined : announcedKeys(sandbox).keys);
  const standard = defaultSecret(sandbox);
  return {
    ...(addresses !== undefined && { SVC_BASE_URL: addresses.url }),
    ...(addresses?.controlUrl !== undefined && { SVC_CONTROL_URL: addresses.controlUrl }),
    ...(standard !== undefined && { SVC_API_KEY: standard }),
    ...Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [variableOf(name), secret])),
  };
}

export type ClientVariables = Readonly<Record<string, string>>;
