import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Builds what is missing or out of date, after `npm ci`, in a git dependency, and before `npm pack`. Without the
// development packages, which is why this is plain JavaScript, it fails only for `npm pack`.

const root = fileURLToPath(new URL("..", import.meta.url));

/** What the build reads, and the last file that it writes. */
const sources = ["src", "scripts", "scenarios", "fixtures/scenarios", "package.json", "package-lock.json"];
const lastBuilt = join(root, "dist/openapi.json");

/** The time of the latest change of a file, or of anything in a folder. */
function changedAt(path) {
  const stats = statSync(path);
  const inside = stats.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : [];
  return Math.max(stats.mtimeMs, ...inside);
}

function isBuilt() {
  const builtAt = statSync(lastBuilt, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.every((source) => changedAt(join(root, source)) <= builtAt);
}

// A package is always built again.
const packs = process.env.npm_lifecycle_event === "prepack";

if (packs || !isBuilt()) {
  if (existsSync(join(root, "node_modules/tsx"))) {
    const { status } = spawnSync("npm run --silent build", { cwd: root, shell: true, stdio: "inherit" });
    process.exitCode = status ?? 1;
  } else {
    console.error(
      "svc-sandbox is not built: its development packages are missing. Run `npm ci`, which builds it.",
    );
    process.exitCode = packs ? 1 : 0;
  }
}
