import { promises as files } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { variableOf } from "../../domain/api-key.js";
import { removeOldDrafts, writeFileAtomically } from "../../node/files/write-file.js";
import { quote } from "../../schema/words.js";
import type { RunningServer } from "../../server/serve-log.js";
import { announcedKeys, defaultSecret, scenarioSecrets, secretsOf } from "../../world/secrets.js";
import { secretFor } from "../../world/story/run-step.js";
import type { World } from "../../world/world.js";
import { tryToWrite, unwritable } from "../exit-codes.js";
import type { Io } from "../io.js";

type Addresses = Pick<RunningServer, "url" | "controlUrl">;

/**
 * The environment variables for a client: addresses when it is served, the default key, the keys by their refs, and a key
 * that does not exist and one that is malformed, under the words that stories have for them.
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
    [variableOf("unknown")]: secretFor(world, "unknown") as string,
    [variableOf("malformed")]: secretFor(world, "malformed") as string,
  };
}

type Variables = Readonly<Record<string, string>>;

const linesOf = (line: (name: string, value: string) => string) => (variables: Variables) =>
  Object.entries(variables)
    .map(([name, value]) => line(name, value))
    .join("");

// Not every reader of .env files takes quotes off, and keys and addresses need none: a shell touches brackets (of an
// IPv6 address) only outside of an assignment.
/** The variables as lines that a shell and every reader of .env files understand. */
export const environmentLines = linesOf((name, value) => `${name}=${value}\n`);

/** The variables as lines for PowerShell. */
export const powershellLines = linesOf((name, value) => `$env:${name} = '${value}'\n`);

/** Writes the environment for clients of a world that is served; only its owner can read the file, since it holds keys. */
export async function writeEnvFile(
  file: string,
  cwd: string,
  world: World,
  addresses: Addresses,
): Promise<void> {
  const { leftOut } = announcedKeys(world);
  const note = leftOut === 0 ? "" : `# ${leftOut} more keys: svc-sandbox keys ${world.name} --format env\n`;
  const text = environmentLines(clientEnvironment(world, addresses)) + note;
  const path = resolve(cwd, file);
  const write = () => {
    removeOldDrafts(path);
    writeFileAtomically(path, text, 0o600);
  };
  tryToWrite(quote(file), write, "Name another file with --write-env.");
}

// Those of another sandbox, or of the real API, would lead the command there, or send real keys here.
const ours = /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_.+)$/;

/**
 * This process's environment, with the variables for clients of this sandbox instead of any that were there, and how to
 * remove the files that were written for it.
 */
export async function execEnvironment(
  own: Io["env"],
  world: World,
  server: RunningServer,
): Promise<{ readonly env: Io["env"]; readonly remove: () => Promise<void> }> {
  const { certificate, controlToken } = server;
  const trust = certificate === undefined ? undefined : await writeTrust(certificate, own);
  const env = {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !ours.test(name))),
    ...clientEnvironment(world, server),
    // For `report`, and for anything else that the command asks of the control plane.
    ...(controlToken !== undefined && { SVC_SANDBOX_CONTROL_TOKEN: controlToken }),
    ...trust,
  };
  return {
    env,
    async remove() {
      if (trust !== undefined) await files.rm(dirname(trust.SVC_CA_FILE), { recursive: true, force: true });
    },
  };
}

// Writes the certificate into files that clients can be pointed to, in a folder of their own.
async function writeTrust(certificate: string, { NODE_EXTRA_CA_CERTS: already }: Io["env"]) {
  const folder = await files
    .mkdtemp(join(tmpdir(), "svc-sandbox-"))
    .catch(
      unwritable(`the certificate for the command into ${quote(tmpdir())}`, "Name another folder in TMPDIR."),
    );
  const [file, forNode] = [join(folder, "ca.pem"), join(folder, "node-extra-ca.pem")];
  // There is one such variable: the certificates that it names already stay trusted.
  const others = already ? await files.readFile(already, "utf8").catch(() => "") : "";
  await files.writeFile(file, certificate);
  await files.writeFile(forNode, `${certificate.trimEnd()}\n${others}`);
  return { SVC_CA_FILE: file, NODE_EXTRA_CA_CERTS: forNode };
}
