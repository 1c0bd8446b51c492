import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startBin } from "./exec-process.js";

/** The base URL in the line that `start --json` prints. */
async function listening(child: ChildProcess): Promise<string> {
  const [line] = await once(child.stdout as NodeJS.ReadableStream, "data");
  return JSON.parse(String(line)).base_url;
}

describe("the built svc-sandbox", () => {
  it("prints data on stdout and exits with 0", async () => {
    const { code, stdout, stderr } = await startBin(["list"]).ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.toString()).toMatch(/^key-states /m);
  });

  it("prints a bundled scenario from the package's own folder", async () => {
    const { code, stdout } = await startBin(["show", "revoked"]).ended;
    expect(code).toBe(0);
    expect(stdout.toString()).toContain("version: 1");
  });

  it("prints a problem on stderr and exits with 2", async () => {
    const { code, stdout, stderr } = await startBin(["--port", "abc"]).ended;
    expect([code, stdout.toString()]).toEqual([2, ""]);
    expect(stderr).toMatch(/^Failed to read --port: .*\n$/);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("serves until %s, and exits with 0", async (signal) => {
    const { child, ended } = startBin(["start", "--json", "--port", "0", "--log", "json"]);
    const url = await listening(child);
    expect((await fetch(`${url}/v1/relying-party/me`)).status).toBe(401);
    child.kill(signal);
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it("stops at once when it is asked a second time", async () => {
    const { child, ended } = startBin(["start", "--json", "--port", "0", "--log", "off"]);
    const url = new URL(await listening(child));
    const socket = connect(Number(url.port), url.hostname);
    onTestFinished(() => void socket.destroy());
    // A request that never ends keeps the server open for its two seconds.
    socket.write("GET / HTTP/1.1\r\nHost: here\r\n");
    await once(socket, "connect");
    await fetch(`${url.origin}/v1/relying-party/me`);
    child.kill("SIGINT");
    await once(child.stderr as NodeJS.ReadableStream, "data");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130 });
  });

  it("ends quietly when nobody reads its output any more", async () => {
    const { child, ended } = startBin(["openapi"]);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });
});
