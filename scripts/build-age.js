import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What the build reads, and the last file that it writes. */
const sources = ["src", "scripts", "scenarios", "package.json", "package-lock.json"];
const lastBuilt = join(root, "dist/openapi.json");

/** The time of the latest change of a file, or of anything in a folder. */
function changedAt(path) {
  const stats = statSync(path);
  const inside = stats.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : [];
  return Math.max(stats.mtimeMs, ...inside);
}

/** Whether `dist` exists and is newer than everything that the build reads. */
export function isBuilt() {
  const builtAt = statSync(lastBuilt, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.every((source) => changedAt(join(root, source)) <= builtAt);
}

/** The folders whose tests use `dist`. */
const builtFolders = ["docs", "package", "control", "dashboard", "cli"].map((name) =>
  join(root, "test", name),
);

/** Warns before tests of the built package, which would otherwise show the behavior of earlier code. */
export default class BuildAgeReporter {
  onTestRunStart(specifications) {
    const usesBuild = specifications.some(({ moduleId }) =>
      builtFolders.some((folder) => moduleId.startsWith(folder)),
    );
    if (!usesBuild || isBuilt()) return;
    console.warn("dist is older than the code, or missing, and these tests use it: run npm run build first.");
  }
}
