import { closeSync, existsSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { commandLine, runCommand, startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("the built svc-sandbox", () => {
  it("prints data on stdout and exits with 0, also when its output is not read to the end", async () => {
    const { code, stdout, stderr } = await startBin(["list"]).ended;
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^key-states /m), ""]);
    const { child, ended } = startBin(["openapi"]);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });

  it.runIf(existsSync("/dev/full"))(
    "continues if the log cannot be written, and fails if its output cannot be",
    async () => {
      const full = openSync("/dev/full", "w");
      onTestFinished(() => closeSync(full));
      const server = startBin(["start", "--json", "--port", "0"], { stderr: full });
      const { base_url } = JSON.parse(await server.until(/\n/));
      for (let i = 0; i < 2; i++) expect((await fetch(`${base_url}/v1/relying-party/me`)).status).toBe(401);
      server.child.kill("SIGTERM");
      expect(await server.ended).toMatchObject({ code: 0 });
      const { code, stderr } = await startBin(["list"], { stdout: full }).ended;
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^Failed to write .*\n$/)]);
    },
  );

  it.skipIf(process.platform === "win32")("in a folder that was deleted ends with 2", async () => {
    const cwd = temporaryFolder();
    for (const [argv, code] of Object.entries({ start: 2, "exec -- true": 2 })) {
      const line = `mkdir gone && cd gone && rmdir ../gone && ${commandLine} ${argv}`;
      expect([argv, await runCommand(line, { cwd }).ended]).toEqual([
        argv,
        expect.objectContaining({ code }),
      ]);
    }
  });

  it("runs no code from the temporary folder, where another user of the machine could put it", async () => {
    // Node before 22.1 has no cache of compiled code.
    const folder = temporaryFolder({
      "cache.cjs": `const node = require("node:module");
        node.enableCompileCache ??= () => require("node:fs").writeFileSync(__dirname + "/shared/cached", "");`,
      "shared/.keep": "",
    });
    const env = { TMPDIR: join(folder, "shared"), NODE_OPTIONS: `--require ${join(folder, "cache.cjs")}` };
    expect(await startBin(["list"], { env }).ended).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, "shared"))).toEqual([".keep"]);
  });

  it("has the documentation inside, with its pictures and style", async () => {
    const server = startBin(["start", "--json", "--port", "0"]);
    const { control_url } = JSON.parse(await server.until(/\n/));
    const page = await fetch(`${control_url}/docs/dashboard`);
    const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+\.(?:css|webp))"/g)];
    expect([page.status, files.length]).toEqual([200, 5]);
    for (const [, file] of files) expect((await fetch(new URL(file as string, page.url))).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: 0 });
  });

  it("--until-stdin-ends does not wait for its input when it cannot serve, or is stopped", async () => {
    const { child, ended, until } = startBin(["--until-stdin-ends", "--port", "0"], { hasInput: true });
    const { base_url } = JSON.parse(await until(/\n/));
    // The first call loads the control plane: on a busy machine, that takes longer than a start waits for a name.
    expect((await fetch(`${base_url}/__sandbox/health`)).status).toBe(200);
    const { port } = new URL(base_url);
    const second = startBin(["--until-stdin-ends", "--port", port], { hasInput: true });
    expect(await second.ended).toMatchObject({ code: 2, stderr: expect.stringContaining("is in use by") });
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  });
});
