import { connect, type Socket } from "node:net";
import type { ClientOrder, ClientReading } from "./programs.js";

// A client library would take longer for each request than the servers do, and hide the difference between them.
const firstDigit = "HTTP/1.1 ".length;
const letterH = "H".charCodeAt(0);

function load(order: ClientOrder): Promise<ClientReading> {
  const { port, bases = [""], connections, keys, requests, statuses } = order;
  const texts = bases
    .flatMap((base) => keys.map((key) => [base, key]))
    .map(([base, key]) =>
      Buffer.from(
        `GET ${base}/v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Api-Key: ${key}\r\n\r\n`,
      ),
    );
  const closing = Buffer.from(order.closing ?? "}}}");
  const isDue = (response: Buffer, index: number) => {
    const at = (place: number) => (response[firstDigit + place] as number) - 48;
    return at(0) * 100 + at(1) * 10 + at(2) === (statuses?.[index] ?? 200);
  };
  const latencies = new Float64Array(requests);
  let sent = 0;
  let responded = 0;

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
        // The body's end occurs nowhere else in the response, so its length need not be read.
        if (chunk.length < closing.length) return;
        if (chunk.compare(closing, 0, closing.length, chunk.length - closing.length) !== 0) return;
        latencies[responded] = performance.now() - sentAt;
        responded += 1;
        if (responded === requests) finish();
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
  load(order).then((reading) => process.send?.(reading));
});
