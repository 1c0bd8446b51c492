import { resolve } from "node:path";
import { writeFailure, writeFileAtomically } from "../node/files/write-file.js";
import { announcedKeys } from "../sandbox/secrets.js";
import type { World } from "../sandbox/world.js";
import { quote } from "../scenario/problems/words.js";
import { type Addresses, clientEnvironment, environmentLines } from "./client-environment.js";
import { usageError } from "./usage-error.js";

/** Writes the environment for clients of a world that is served; only its owner can read the file, since it holds keys. */
export async function writeEnvFile(
  file: string,
  cwd: string,
  world: World,
  addresses: Addresses,
): Promise<void> {
  const { leftOut } = announcedKeys(world);
  const note = leftOut === 0 ? "" : `# ${leftOut} more keys: svc-sandbox keys ${world.name} --format env\n`;
  try {
    await writeFileAtomically(
      resolve(cwd, file),
      environmentLines(clientEnvironment(world, addresses)) + note,
      0o600,
    );
  } catch (error) {
    throw usageError(
      `Failed to write ${quote(file)}: ${writeFailure(error)}. Name another file with --write-env.`,
    );
  }
}
