import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { writeWholeFile } from "../../src/cli/output-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// In a shared folder, the system does not let one user remove the file of another; `rmSync` then tries whether it is a folder.
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const failing = (code: string): typeof fs.rmSync => {
    return (path, options) => {
      if (!String(path).endsWith("-draft")) return fs.rmSync(path, options);
      throw Object.assign(new Error(code), { code });
    };
  };
  return { ...fs, unlinkSync: failing("EPERM"), rmSync: failing("ENOTDIR") };
});

test("the draft of another user is named with the cause", () => {
  const file = join(temporaryFolder({ "env.svc-sandbox-draft": "" }), "env");
  const why = /env\.svc-sandbox-draft" cannot be removed: permission denied$/;
  expect(() => writeWholeFile(file, "new", 0o600)).toThrow(why);
});
