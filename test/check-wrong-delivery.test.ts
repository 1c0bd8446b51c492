import { brotliCompressSync, gzipSync } from "node:zlib";
import { test } from "vitest";
import type { Reply } from "./support/probed-server.js";
import { difference, expectTold, to, type WrongServer } from "./support/wrong-servers.js";

const html = "<!DOCTYPE html><html><body>Bad gateway</body></html>";
const asHtml = (status: number) => (reply: Reply) => {
  Object.assign(reply, { status, headers: { "Content-Type": "text/html" }, bytes: html });
};

const wrongDelivery: readonly WrongServer[] = [
  [
    "R1 answers a good key with an HTML page and 200",
    to(["active"], asHtml(200)),
    difference("200.test  body  R1", "JSON", 'an HTML page that begins with "<!DOCTYPE html>'),
  ],
  [
    "R1 answers a good key with an HTML page and 502",
    to(["active"], asHtml(502)),
    difference("200.test  status  R1", "200", '502, an HTML page that begins with "<!DOCTYPE html>'),
  ],
  [
    "R1 redirects a good key",
    to(["active"], (reply) => {
      Object.assign(reply, { status: 302, headers: { Location: "https://login.example/" }, bytes: "" });
    }),
    difference(
      "200.test  status  R1",
      "200",
      "302, a redirect to https://login.example/, which was not followed",
    ),
  ],
  [
    "R1 hangs on a good key",
    to(["active"], () => "handled"),
    difference("200.test  connection  R1", "an answer", "no answer came within 0.25 s"),
  ],
  [
    "R1 never ends its answer",
    to(["active"], (_reply, { response }) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.write('{"data":');
      return "handled";
    }),
    difference("200.test  connection  R1", "an answer", "the answer did not end within 0.25 s"),
  ],
  [
    "R1 resets the connection",
    to(["active"], (_reply, { response }) => {
      response.socket?.resetAndDestroy();
      return "handled";
    }),
    difference(
      "200.test  connection  R1",
      "an answer",
      "the connection was closed before an answer came (ECONNRESET)",
    ),
  ],
  [
    "R1 cuts the body off",
    to(["active"], (_reply, { response }) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 500 });
      response.write('{"data":{"organization":', () => response.socket?.destroy());
      return "handled";
    }),
    difference("200.test  connection  R1", "an answer", "a body that was cut off after 24 of 500 bytes"),
  ],
  [
    "R1 sends a huge body",
    to(["active"], (reply) => {
      reply.bytes = Buffer.alloc(5_000_000, 0x20);
    }),
    difference(
      "200.test  connection  R1",
      "an answer",
      "a body of more than 64 kB, which was not read to its end",
    ),
  ],
  [
    "R1 sends a body that unpacks to a huge one",
    to(["active"], (reply) => {
      reply.headers["Content-Encoding"] = "br";
      reply.bytes = brotliCompressSync(Buffer.alloc(5_000_000, 0x20));
    }),
    difference("200.test  connection  R1", "an answer", "a body of more than 64 kB"),
  ],
  [
    "R1 compresses what was asked for as it is",
    to(["active"], (reply) => {
      reply.headers["Content-Encoding"] = "gzip";
      reply.bytes = gzipSync(JSON.stringify(reply.body));
    }),
    difference("200.test  Content-Encoding  R1", "nothing, since no encoding was asked for", '"gzip"'),
  ],
  [
    "R1 sends JSON as text",
    to(["active"], (reply) => {
      reply.headers["Content-Type"] = "text/plain";
    }),
    difference("200.test  Content-Type  R1", "application/json", '"text/plain"'),
  ],
  [
    "R1 sends what is not JSON",
    to(["active"], (reply) => {
      reply.bytes = "{'data': None}";
    }),
    difference("200.test  body  R1", "JSON", `text that begins with "{'data': None}"`),
  ],
  [
    "R1 sends what is not UTF-8",
    to(["active"], (reply) => {
      reply.bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    }),
    difference("200.test  body  R1", "JSON", "a body that is not UTF-8"),
  ],
];

test.each(wrongDelivery)("a server that is wrong about %s is told", expectTold);
