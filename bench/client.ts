import { connect, type Socket } from "node:net";
import { loadHttp2 } from "./http2-client.js";
import type { ClientOrder, ClientReading } from "./messages.js";

// A client library would take longer for each request than the servers do, and hide the difference between them.
const firstDigit = "HTTP/1.1 ".length;
const letterH = "H".charCodeAt(0);

/** Keeps one request under way on each connection until `requests` are answered; rejects on any other status than is due. */
function load(order: ClientOrder): Promise<ClientReading> {
  const { port, connections, keys, requests, headerLines, statuses } = order;
  const texts = keys.map((key, index) => {
    const own = headerLines === undefined ? "" : `${headerLines[index]}\r\n`;
    return Buffer.from(
      `GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Api-Key: ${key}\r\n${own}\r\n`,
    );
  });
  const closing = Buffer.from(order.closing ?? "}}}");
  const isDue = (answer: Buffer, index: number) => {
    const at = (place: number) => (answer[firstDigit + place] as number) - 48;
    return at(0) * 100 + at(1) * 10 + at(2) === (statuses?.[index] ?? 200);
  };
  const latencies = new Float64Array(requests);
  let sent = 0;
  let answered = 0;

  return new Promise((resolve, reject) => {
    const sockets: Socket[] = [];
    const finish = () => {
      const seconds = (performance.now() - started) / 1000;
      for (const socket of sockets) socket.destroy();
      latencies.sort();
      const latencyOf = (share: number) => latencies[Math.floor(requests * share)] as number;
      resolve({ perSecond: requests / seconds, p50: latencyOf(0.5), p99: latencyOf(0.99) });
    };
    const converse = (socket: Socket) => {
      let sentAt = 0;
      let index = 0;
      const send = () => {
        if (sent === requests) return;
        sentAt = performance.now();
        index = sent % texts.length;
        socket.write(texts[index] as Buffer);
        sent += 1;
      };
      socket.on("data", (chunk: Buffer) => {
        if (chunk[0] === letterH && !isDue(chunk, index)) {
          const line = chunk.toString("latin1").split("\r\n")[0];
          reject(new Error(`expected a ${statuses?.[index] ?? 200} and got ${line}`));
          return;
        }
        // The body's end stands nowhere else in the answer, so there is no need to read its length.
        if (chunk.length < closing.length) return;
        if (chunk.compare(closing, 0, closing.length, chunk.length - closing.length) !== 0) return;
        latencies[answered] = performance.now() - sentAt;
        answered += 1;
        if (answered === requests) finish();
        else send();
      });
      send();
    };

    let started = 0;
    let connected = 0;
    for (let i = 0; i < connections; i++) {
      const socket = connect(port, "127.0.0.1", () => {
        connected += 1;
        if (connected < connections) return;
        started = performance.now();
        for (const one of sockets) converse(one);
      });
      socket.setNoDelay(true);
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("the server closed a connection")));
      sockets.push(socket);
    }
  });
}

process.on("message", (order: ClientOrder) => {
  (order.streams === undefined ? load : loadHttp2)(order).then((reading) => process.send?.(reading));
});
