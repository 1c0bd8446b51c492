import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { controlPath } from "../../src/rules/paths.js";
import { readResponses } from "../support/raw-socket.js";
import { startBin } from "../support/running-command.js";
import { mePath } from "../support/send.js";

async function start() {
  const { child, until } = startBin(["start", "key-states", "--port", "0", "--json", "--log", "off"]);
  const { base_url: url } = JSON.parse(await until(/\n/));
  const script = /src="\.?\/?(assets\/[^"]+)"/.exec(await (await fetch(`${url + controlPath}/`)).text())?.[1];
  return { pid: child.pid, port: Number(new URL(url).port), script: `${controlPath}/${script}` };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

test.skipIf(process.platform !== "linux")(
  "five clients that pipeline 10,000 requests and read nothing leave the server below 180 MB, and it continues",
  async () => {
    const { pid, port, script } = await start();
    expect((await fetch(`http://127.0.0.1:${port}${script}`)).status).toBe(200);
    const floods = Array.from({ length: 5 }, () => {
      const flood = connect(port, "127.0.0.1", () => flood.write(get(script).repeat(10_000)));
      onTestFinished(() => void flood.destroy());
      return flood.on("error", () => {}).pause();
    });
    await Promise.all(floods.map((flood) => once(flood, "connect")));
    // Meanwhile the server reads what the others have sent.
    for (let sent = 0; sent < 300; sent++) {
      expect((await fetch(`http://127.0.0.1:${port}${mePath}`)).status).toBe(401);
    }
    const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    expect(Number(peak)).toBeGreaterThan(0);
    expect(Number(peak)).toBeLessThan(180 * 1024);
  },
  120_000,
);

test.each([mePath, `${controlPath}/health`])(
  "a client that pipelines 10,000 requests for %s and reads gets every response",
  async (path) => {
    const { port } = await start();
    const last = get(path).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    const client = connect(port, "127.0.0.1", () => client.write(get(path).repeat(9999) + last));
    const responses = readResponses(Buffer.concat(await client.toArray()));
    expect(responses).toHaveLength(10_000);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([path === mePath ? 401 : 200]));
  },
  120_000,
);
