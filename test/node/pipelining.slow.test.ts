import { connect } from "node:net";
import { expect, test } from "vitest";
import { controlPath } from "../../src/rules/known-paths.js";
import { readResponses } from "../support/raw-socket.js";
import { startBin } from "../support/running-command.js";
import { mePath } from "../support/send.js";

async function start() {
  const { until } = startBin(["start", "key-states", "--port", "0", "--json", "--log", "off"]);
  const { base_url: url } = JSON.parse(await until(/\n/));
  return Number(new URL(url).port);
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

test.each([mePath, `${controlPath}/health`])(
  "a client that pipelines 10,000 requests for %s and reads gets every response",
  async (path) => {
    const port = await start();
    const last = get(path).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    const client = connect(port, "127.0.0.1", () => client.write(get(path).repeat(9999) + last));
    const responses = readResponses(Buffer.concat(await client.toArray()));
    expect(responses).toHaveLength(10_000);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([path === mePath ? 401 : 200]));
  },
  120_000,
);
