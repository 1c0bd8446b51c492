import { keyVariable } from "../../rules/keys/key-text.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { defaultSecret, secretsByRef, secretsOfNoKey } from "../../sandbox/secrets.js";
import { announcedKeys } from "../../sandbox/shown-keys.js";
import type { RunningServer } from "../../server/serve.js";
import type { ClientVariables } from "./env-text.js";

/**
 * The variables that a client reads: all keys of a sandbox, without URLs. With a server, its URLs and the keys that it announces:
 * a process cannot get all keys of a large population.
 */
export function clientEnvironment(
  sandbox: SandboxState,
  server?: Pick<RunningServer, "url" | "controlUrl">,
): ClientVariables {
  const variables: Record<string, string> = {};
  if (server !== undefined) variables.SVC_BASE_URL = server.url;
  if (server?.controlUrl !== undefined) variables.SVC_CONTROL_URL = server.controlUrl;
  const defaultKeySecret = defaultSecret(sandbox);
  if (defaultKeySecret !== undefined) variables.SVC_API_KEY = defaultKeySecret;

  let keySecrets = secretsByRef(sandbox);
  if (server !== undefined) keySecrets = secretsByRef(sandbox, announcedKeys(sandbox).keys);
  // What a client sends as `unknown` and as `malformed`, which the sandbox rejects.
  const secrets = { ...keySecrets, ...secretsOfNoKey(sandbox) };
  for (const [ref, secret] of Object.entries(secrets)) variables[keyVariable(ref)] = secret;
  return variables;
}
