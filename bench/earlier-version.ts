import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { mustRun } from "../scripts/run-program.js";

/** The folder of a built copy of the project: the one that is named, or that of a commit, which is built once. */
export async function earlierVersion(folderOrCommit: string): Promise<string> {
  if (existsSync(join(folderOrCommit, "bin/svc-sandbox.js"))) return resolve(folderOrCommit);
  const commit = await mustRun("git", ["rev-parse", "--verify", `${folderOrCommit}^{commit}`]);
  // Not below `node_modules`: TypeScript leaves files there out, and a build would have no types.
  const folder = join(tmpdir(), "svc-sandbox-bench", commit);
  if (existsSync(join(folder, "dist/cjs"))) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const archive = join(folder, "project.tar");
  await mustRun("git", ["archive", "--output", archive, commit]);
  await mustRun("tar", ["-xf", archive], { cwd: folder });
  // Its own packages, as its lock file has them; the end of the installation builds it.
  await mustRun("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: folder,
    timeout: 600_000,
  });
  return folder;
}
