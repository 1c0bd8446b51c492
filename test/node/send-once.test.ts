import { createServer } from "node:net";
import { expect, test } from "vitest";
import { endpointUnder } from "../../src/cli/commands/compare.js";
import { sendOnce } from "../../src/node/clients/send-once.js";
import { listening } from "../support/servers.js";

/** Sends a request to a server that responds with this text, and leaves the connection open unless it `ends`. */
async function reply(text: string, { ends = true, timeout = 60_000, maxBody = 5 } = {}) {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .on("data", (bytes) => {
        received.push(String(bytes));
        if (ends) socket.end(text);
        else socket.write(text);
      });
  });
  const url = new URL(`http://127.0.0.1:${await listening(server)}/a?b`);
  return { received, reply: await sendOnce(url, { method: "POST", timeout, maxBody }) };
}

const head = (length: number, status = "200 Fine") =>
  `HTTP/1.1 ${status}\r\nX-A: 1\r\nContent-Length: ${length}\r\n\r\n`;

test("a request that its caller stops has not failed, and was not late", async () => {
  const stopping = new AbortController();
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("data", () => stopping.abort());
  });
  const url = new URL(`http://127.0.0.1:${await listening(server)}`);
  const { signal: stop } = stopping;
  expect(await sendOnce(url, { timeout: 60_000, maxBody: 5, stop })).toMatchObject({ noResponse: "stopped" });
});

test("the endpoint is under any HTTP URL, and no other text is repeated", () => {
  const urls = ["http://a/b/", "http://a/b/v1/relying-party/me"].map((base) => endpointUnder(base).href);
  expect(new Set(urls)).toEqual(new Set(["http://a/b/v1/relying-party/me"]));
  const isUsage = expect.objectContaining({ code: "usage", message: expect.not.stringContaining("s3cret") });
  expect(() => endpointUnder("ftp://s3cret")).toThrow(isUsage);
});

test("a whole response of the longest body is read, and its connection is closed", async () => {
  const { received, reply: response } = await reply(`${head(5)}12345`, { ends: false });
  expect(response).toMatchObject({
    status: 200,
    reason: "Fine",
    headers: [
      ["X-A", "1"],
      ["Content-Length", "5"],
    ],
  });
  expect(String("body" in response && response.body)).toBe("12345");
  expect(received.join("")).toMatch(
    /^POST \/a\?b HTTP\/1\.1\r\ncontent-type: application\/json\r\n[\s\S]*\r\n\r\n\{\}$/i,
  );
});
