import { promises as files } from "node:fs";
import { join } from "node:path";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { quoteFile } from "../../schema/words.js";
import type { RunningServer } from "../../server/serve.js";
import { unwritable } from "../exit-codes.js";
import { clientEnvironment } from "../files/client-variables.js";
import type { Io } from "../io.js";

/** The hosts that a command must not reach over a proxy of the network, added to its own; none without a proxy. */
export function directHosts(ownEnv: Io["env"], baseUrl: string): readonly string[] {
  const hasProxy = Object.keys(ownEnv).some((name) => /^(?:https?|all)_proxy$/i.test(name) && ownEnv[name]);
  if (!hasProxy) return [];

  const hosts = new Set<string>();
  for (const host of `${ownEnv.NO_PROXY ?? ""},${ownEnv.no_proxy ?? ""}`.split(",")) {
    if (host.trim() !== "") hosts.add(host.trim());
  }
  for (const host of ["localhost", "127.0.0.1", "::1", new URL(baseUrl).hostname]) hosts.add(host);
  return [...hosts];
}

/** Variables that may be of another sandbox or the real API: they would send the command there, or real keys here. */
const clientVariable = /^SVC_(?:BASE_URL|CONTROL_URL|CA_FILE|API_KEY|KEY_.+)$/;

/** The variables of this process, with those of the sandbox. */
export async function commandEnvironment(
  io: Pick<Io, "env" | "executable">,
  sandbox: SandboxState,
  server: RunningServer,
  runFolder: string,
  noProxy: string,
): Promise<Io["env"]> {
  const { certificate, controlToken } = server;
  const otherVariables = Object.entries(io.env).filter(([name]) => !clientVariable.test(name));
  const env = Object.fromEntries(otherVariables);
  Object.assign(env, clientEnvironment(sandbox, server));
  env.SVC_SANDBOX_RUN = runFolder;
  // The requests of another version could not be counted.
  if (io.executable !== undefined) env.SVC_SANDBOX_BIN = io.executable;
  // The command calls the control plane, for example with `report`.
  if (controlToken !== undefined) env.SVC_SANDBOX_CONTROL_TOKEN = controlToken;
  if (noProxy !== "") Object.assign(env, { NO_PROXY: noProxy, no_proxy: noProxy });
  if (certificate !== undefined) Object.assign(env, await writeTrust(certificate, io.env, runFolder));
  return env;
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The variables in which programs look for the file with the certificates that they trust. */
const trustVariables = ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];

/** Writes the certificate, those that Node trusts, and those of the user's own files into one file; returns its variables. */
async function writeTrust(certificate: string, ownEnv: Io["env"], folder: string): Promise<Io["env"]> {
  const { rootCertificates } = process.getBuiltinModule("node:tls");
  const texts = [certificate, ...rootCertificates];
  for (const name of trustVariables) {
    const usersFile = ownEnv[name];
    // A file that cannot be read adds nothing.
    if (usersFile) texts.push(await files.readFile(usersFile, "utf8").catch(() => ""));
  }

  const file = join(folder, "ca.pem");
  const trusted = new Set(texts.join("\n").match(pem));
  try {
    await files.writeFile(file, `${[...trusted].join("\n")}\n`);
  } catch (cause) {
    const what = `the certificate for the command into ${quoteFile(file)}`;
    throw unwritable(cause, what, "Name another folder in TMPDIR.");
  }
  const variables: Record<string, string> = { SVC_CA_FILE: file };
  for (const name of trustVariables) variables[name] = file;
  return variables;
}
