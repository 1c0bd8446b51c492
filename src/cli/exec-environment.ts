import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningServer } from "../node/server/serve-runtime.js";
import type { World } from "../sandbox/world.js";
import { clientEnvironment } from "./client-environment.js";
import type { Io } from "./io.js";

/** The environment of a command, and how to take away what was written for it. */
export interface ExecEnvironment {
  readonly env: Io["env"];
  readonly remove: () => Promise<void>;
}

// Those of another sandbox, or of the real API, would lead the command there, or send what is real here.
const ours = /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_.+)$/;

/** This process's environment, with the variables for clients of this sandbox in the place of any that were there. */
export async function execEnvironment(
  own: Io["env"],
  world: World,
  server: RunningServer,
): Promise<ExecEnvironment> {
  const { certificate, controlToken } = server;
  const trust = certificate === undefined ? undefined : await writeTrust(certificate, own);
  const env = {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !ours.test(name))),
    ...clientEnvironment(world, server),
    // Read by `report`, and by whatever else the command may ask the control plane for.
    ...(controlToken !== undefined && { SVC_SANDBOX_CONTROL_TOKEN: controlToken }),
    ...trust?.variables,
  };
  return { env, remove: trust?.remove ?? (async () => {}) };
}

/** Puts the certificate where clients can be told to look for it. */
async function writeTrust(certificate: string, own: Io["env"]) {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-"));
  const file = join(folder, "ca.pem");
  const forNode = join(folder, "node-extra-ca.pem");
  await writeFile(file, certificate);
  // There is one such variable, and what it says already is still true.
  const already = own.NODE_EXTRA_CA_CERTS;
  const others = already ? await readFile(already, "utf8").catch(() => "") : "";
  await writeFile(forNode, `${certificate.trimEnd()}\n${others}`);
  return {
    variables: { SVC_CA_FILE: file, NODE_EXTRA_CA_CERTS: forNode },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
