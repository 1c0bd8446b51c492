import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { baseUrl, type RunOptions, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** An environment whose only program keeps the address that it is to open. */
function withOpener(name = "xdg-open", code = 0) {
  const folder = temporaryFolder({ [name]: `#!/bin/sh\necho "$@" >> "$0.opened"\nexit ${code}\n` });
  const program = join(folder, name);
  chmodSync(program, 0o755);
  const read = () => (existsSync(`${program}.opened`) ? readFileSync(`${program}.opened`, "utf8") : "");
  const opened = async () => {
    await expect.poll(read).toMatch(/^\S+\n$/);
    return read().trim();
  };
  return { program, read, opened, env: { PATH: folder } };
}

const start = (argv: readonly string[], options: RunOptions) =>
  startCli(["--port", "0", "--open", ...argv], { cwd: temporaryFolder(), ...options });

describe.skipIf(process.platform !== "linux")("svc-sandbox start --open", () => {
  it("opens the address that it prints", async () => {
    const { env, opened } = withOpener();
    const running = start([], { env });
    const address = await opened();
    expect(running.stdout.text()).toContain(`\n  Dashboard  ${address}\n`);
    expect((await fetch(address)).status).toBe(200);
    expect(await running.stop()).toMatchObject({ code: 0, stderr: expect.not.stringContaining("browser") });
  });

  it("gives a token that it made, after the #, and none that was given", async () => {
    const made = withOpener();
    const open = start(["--host", "0.0.0.0"], { env: made.env });
    const address = await made.opened();
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/__sandbox\/#token=[\w-]{32}$/);
    expect(open.stdout.text()).toContain(`\n  Dashboard  ${address}\n`);
    const given = withOpener();
    const kept = start(["--control-token", "a-token-of-mine"], { env: given.env });
    expect(await given.opened()).toMatch(/\/__sandbox\/$/);
    expect(kept.stdout.text()).not.toContain("token=");
  });

  it("opens it at an address of this machine, with any public URL", async () => {
    const { env, opened } = withOpener();
    start(["--public-url", "https://box.example"], { env });
    expect(await opened()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/__sandbox\/$/);
  });

  it("reports that no browser exists, without the token, and continues", async () => {
    const running = start(["--host", "0.0.0.0", "--quiet"], { env: { PATH: temporaryFolder() } });
    const url = await baseUrl(running);
    await running.stderr.shows(/\nNo browser was opened: there is no xdg-open\. Open .*: \S+\/__sandbox\/\n/);
    expect((await fetch(`${url}/v1/relying-party/me`)).status).toBe(401);
    expect((await running.stop()).code).toBe(0);
    const { env } = withOpener("xdg-open", 3);
    await start([], { env }).stderr.shows(/No browser was opened: xdg-open ended with 3\./);
  });

  it("starts the program that BROWSER names, and none with BROWSER=none", async () => {
    const own = withOpener("my browser");
    start([], { env: { BROWSER: own.program } });
    await own.opened();
    const { env, read } = withOpener();
    const running = start([], { env: { ...env, BROWSER: "none" } });
    await baseUrl(running);
    const { stderr } = await running.stop();
    expect([read(), stderr]).toEqual(["", expect.not.stringContaining("browser")]);
  });

  it("opens nothing by SVC_SANDBOX_OPEN if there is no control plane", async () => {
    // There is no program to open it: a try would be reported.
    const env = { PATH: temporaryFolder(), SVC_SANDBOX_OPEN: "1" };
    const running = startCli(["--port", "0", "--no-control"], { cwd: temporaryFolder(), env });
    await fetch(await baseUrl(running));
    expect((await running.stop()).stderr).not.toContain("browser");
  });
});
