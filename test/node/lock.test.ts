import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { lock } from "../../src/node/files/lock.js";
import { nodePlatform } from "../../src/node/platform.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.runIf(process.platform !== "win32")(
  "on macOS, a file is locked by a socket, but not by one that a crash has left",
  async () => {
    const folder = temporaryFolder();
    vi.stubEnv("TMPDIR", folder);
    const platform = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
    Object.defineProperty(process, "platform", { value: "darwin", configurable: true });
    onTestFinished(() => {
      Object.defineProperty(process, "platform", platform);
      vi.unstubAllEnvs();
    });
    const address = join(folder, `svc-sandbox-${nodePlatform.sha256("a").slice(0, 32)}.sock`);
    const crash = `require("net").createServer().listen(${JSON.stringify(address)}, () => process.kill(process.pid, 9))`;
    expect(() => execFileSync(process.execPath, ["-e", crash])).toThrow();
    const unlock = await lock("a");
    expect([unlock, await lock("a"), await lock("b")]).toEqual([
      expect.any(Function),
      undefined,
      expect.any(Function),
    ]);
    unlock?.();
    expect(await lock("a")).toBeDefined();
  },
);

test.runIf(process.platform === "linux")(
  "on Linux, whoever listens on the socket has the lock, as SECURITY.md says, until it ends",
  async () => {
    // Locks are those of the whole machine.
    const file = `c ${process.pid}`;
    const address = `\0svc-sandbox-${nodePlatform.sha256(file).slice(0, 32)}`;
    const stranger = createServer().listen(address);
    await once(stranger, "listening");
    expect(await lock(file)).toBeUndefined();
    stranger.close();
    await once(stranger, "close");
    expect(await lock(file)).toBeDefined();
  },
);
