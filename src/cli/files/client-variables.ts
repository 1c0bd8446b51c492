import { keyVariable } from "../../rules/key-text.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { defaultSecret, secretsByRef, secretsOfNoKey } from "../../sandbox/secrets.js";
import { announcedKeys } from "../../sandbox/shown-keys.js";
import type { RunningServer } from "../../server/serve.js";
import type { ClientVariables } from "./env-text.js";

/** The variables that a client reads: its keys, and with a server its URLs. A server leaves out some keys of a large population, because a process cannot get them all. */
export function clientEnvironment(
  sandbox: SandboxState,
  server?: Pick<RunningServer, "url" | "controlUrl">,
): ClientVariables {
  const variables: Record<string, string> = {};
  if (server !== undefined) variables.SVC_BASE_URL = server.url;
  if (server?.controlUrl !== undefined) variables.SVC_CONTROL_URL = server.controlUrl;
  const defaultKeySecret = defaultSecret(sandbox);
  if (defaultKeySecret !== undefined) variables.SVC_API_KEY = defaultKeySecret;

  const keySecrets =
    server === undefined ? secretsByRef(sandbox) : secretsByRef(sandbox, announcedKeys(sandbox).keys);
  // The keys of `unknown` and `malformed`, which no sandbox accepts.
  const secrets = { ...keySecrets, ...secretsOfNoKey(sandbox) };
  for (const [ref, secret] of Object.entries(secrets)) variables[keyVariable(ref)] = secret;
  return variables;
}
