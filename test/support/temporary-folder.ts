import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Makes a folder with these files; it is gone when the test is over. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** A folder with these files, in which this project as it is built, and other packages, are installed. */
export function userFolder(files: Record<string, string> = {}, packages = ["msw", "vitest"]) {
  const folder = temporaryFolder({ "node_modules/.bin/.keep": "", ...files });
  symlinkSync(root, join(folder, "node_modules/svc-sandbox"));
  symlinkSync(join(root, "bin/svc-sandbox.js"), join(folder, "node_modules/.bin/svc-sandbox"));
  for (const name of packages) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  return folder;
}
