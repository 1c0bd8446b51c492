import { connect, type Socket } from "node:net";
import type { ClientOrder, ClientReading } from "./messages.js";

// A client library would take longer for each request than the servers do, and hide the difference between them.
const closingBraces = Buffer.from("}}}");
const statusDigit = "HTTP/1.1 ".length;
const two = "2".charCodeAt(0);

/** Keeps one request under way on each connection until `requests` are answered; rejects on anything but a 200. */
function load({ port, connections, keys, requests }: ClientOrder): Promise<ClientReading> {
  const texts = keys.map((key) =>
    Buffer.from(`GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Api-Key: ${key}\r\n\r\n`),
  );
  const latencies = new Float64Array(requests);
  let sent = 0;
  let answered = 0;

  return new Promise((resolve, reject) => {
    const sockets: Socket[] = [];
    const finish = () => {
      const seconds = (performance.now() - started) / 1000;
      for (const socket of sockets) socket.destroy();
      latencies.sort();
      resolve({ perSecond: requests / seconds, p99: latencies[Math.floor(requests * 0.99)] as number });
    };
    const converse = (socket: Socket) => {
      let sentAt = 0;
      const send = () => {
        if (sent === requests) return;
        sentAt = performance.now();
        socket.write(texts[sent % texts.length] as Buffer);
        sent += 1;
      };
      socket.on("data", (chunk: Buffer) => {
        if (chunk[0] === 72 && chunk[statusDigit] !== two) {
          reject(new Error(`expected a 200 and got ${chunk.toString("latin1").split("\r\n")[0]}`));
          return;
        }
        // The body's end stands nowhere else in the answer, so there is no need to read its length.
        if (chunk.compare(closingBraces, 0, 3, chunk.length - 3) !== 0) return;
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
      sockets.push(socket);
    }
  });
}

process.on("message", (order: ClientOrder) => {
  load(order).then((reading) => process.send?.(reading));
});
