import { promises as files, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ClientAddresses, clientEnvironment, environmentLines } from "../../node/client-variables.js";
import { removeOldDrafts, writeFileAtomically } from "../../node/files/write-file.js";
import { announcedKeys } from "../../sandbox/secrets.js";
import type { World } from "../../sandbox/world.js";
import type { InterceptingServer } from "../../server/serve.js";
import { quote } from "../../spec/schema/words.js";
import { tryToWrite, unwritable } from "../exit-codes.js";
import type { Io } from "../io.js";

/** Writes the environment for clients of a sandbox. Only its owner can read the file, because it contains keys. */
export async function writeEnvFile(
  file: string,
  cwd: string,
  world: World,
  addresses: ClientAddresses,
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

// Variables of another sandbox or the real API would send the command there, or real keys here.
const ours = /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_.+)$/;

/** Returns this process's environment with the variables for this sandbox's clients, and how to remove the files for it. */
export async function execEnvironment(
  own: Io["env"],
  world: World,
  server: InterceptingServer,
): Promise<{ readonly env: Io["env"]; readonly remove: () => void }> {
  const { certificate, controlToken, proxy } = server;
  const certificates = [proxy?.certificate, certificate].filter((pem) => pem !== undefined);
  const trust = certificates.length === 0 ? undefined : await writeTrust(certificates, own);
  // Loaded only when needed.
  const proxied =
    trust &&
    proxy &&
    (await import("./proxy-environment.js").then(({ proxyEnvironment }) =>
      proxyEnvironment(own, trust.variables.SVC_CA_FILE, server.url, proxy),
    ));
  const env = {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !ours.test(name))),
    ...clientEnvironment(world, server),
    // For `report`, and the command's other calls of the control plane.
    ...(controlToken !== undefined && { SVC_SANDBOX_CONTROL_TOKEN: controlToken }),
    ...trust?.variables,
    ...proxied,
  };
  return {
    env,
    remove: trust?.remove ?? (() => {}),
  };
}

// Writes certificates for clients to files in a separate folder.
async function writeTrust(certificates: readonly string[], { NODE_EXTRA_CA_CERTS: already }: Io["env"]) {
  const folder = await files
    .mkdtemp(join(tmpdir(), "svc-sandbox-"))
    .catch(
      unwritable(`the certificate for the command into ${quote(tmpdir())}`, "Name another folder in TMPDIR."),
    );
  const remove = () => {
    process.removeListener("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // Also after a crash.
  process.once("exit", remove);
  const [file, forNode] = [join(folder, "ca.pem"), join(folder, "node-extra-ca.pem")];
  const bundle = certificates.map((pem) => `${pem.trimEnd()}\n`).join("");
  // There is only one such variable: certificates of the user stay trusted.
  const others = already ? await files.readFile(already, "utf8").catch(() => "") : "";
  await files.writeFile(file, bundle);
  await files.writeFile(forNode, bundle + others);
  return { variables: { SVC_CA_FILE: file, NODE_EXTRA_CA_CERTS: forNode }, remove };
}
