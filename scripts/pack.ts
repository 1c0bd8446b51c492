import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "./run-program.js";

/** The package as it would be published. */
export interface Packed {
  /** The tarball's path. */
  readonly tarball: string;
  /** Bytes of the tarball. */
  readonly size: number;
  /** Bytes once unpacked. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[];
}

const root = fileURLToPath(new URL("..", import.meta.url));

/** Packs the project as it is built now into a folder. Throws when npm does. */
export async function packProject(into: string): Promise<Packed> {
  // Without `prepare`: a build would take `dist` away from whoever reads it at this moment.
  const argv = ["pack", "--ignore-scripts", "--json", "--pack-destination", into];
  const { code, stdout, stderr } = await runProgram("npm", argv, { cwd: root });
  if (code !== 0) throw new Error(`Failed to pack the project:\n${stderr}`);
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout);
  return { tarball: join(into, filename), size, unpackedSize, files };
}
