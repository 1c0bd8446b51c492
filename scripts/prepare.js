import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "./build-age.js";

// After `npm ci` and before `npm pack`; plain JavaScript, because the development packages may be missing.

const root = fileURLToPath(new URL("..", import.meta.url));

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
