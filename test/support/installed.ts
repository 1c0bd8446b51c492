import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** A folder in which `npx svc-sandbox` runs this project as it is built, as if it were installed there. */
export function installedFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-user-"));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules/svc-sandbox"));
  symlinkSync(join(root, "bin/svc-sandbox.js"), join(folder, "node_modules/.bin/svc-sandbox"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
