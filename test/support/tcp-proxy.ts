import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy in front of a server on this machine, which can fail as a network does. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection, and takes none. */
  readonly cut: () => void;
  /** Takes what comes, and passes nothing on, in neither direction. */
  readonly stall: () => void;
  /** Stalls when a client sends something with this text, which is passed on once mended. */
  readonly stallAt: (text: string) => void;
  /** The bytes from clients that a stall holds back. */
  readonly held: () => number;
  /** Passes on what clients send at 2 MB a second. */
  readonly slow: () => void;
  /** As from the start; what stalled goes on. */
  readonly mend: () => void;
  /** Passes on what clients send, and breaks their connections when something comes back. */
  readonly loseReplies: () => void;
  /** Leads later connections to another server; the others stay, as after a change of a name. */
  readonly leadTo: (port: number) => void;
  readonly close: () => void;
}

export async function startProxy(first: number): Promise<TcpProxy> {
  let to = first;
  let mode: "open" | "cut" | "stalled" | "deaf" | "slow" = "open";
  let last: string | undefined;
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    if (mode === "cut") return void client.resetAndDestroy();
    const target = connect(to, "127.0.0.1");
    const pair = [client, target] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    client.on("data", (data) => {
      if (last !== undefined && data.includes(last)) {
        last = undefined;
        stall();
        client.unshift(data);
        return;
      }
      target.write(data);
      if (mode !== "slow") return;
      client.pause();
      setTimeout(() => client.resume(), data.length / 2000);
    });
    target.on("data", (data) => (mode === "deaf" ? end() : client.write(data)));
    if (mode === "stalled") for (const socket of pair) socket.pause();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const each = (act: (socket: Socket) => void) => {
    for (const pair of pairs) pair.forEach(act);
  };
  const stall = () => {
    mode = "stalled";
    each((socket) => socket.pause());
  };
  const cut = () => {
    mode = "cut";
    each((socket) => socket.destroy());
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    stall,
    stallAt(text) {
      last = text;
    },
    held: () => [...pairs].reduce((sum, [client]) => sum + client.readableLength, 0),
    slow() {
      mode = "slow";
    },
    mend() {
      mode = "open";
      each((socket) => socket.resume());
    },
    loseReplies() {
      mode = "deaf";
    },
    leadTo(port) {
      to = port;
    },
    close() {
      cut();
      server.close();
    },
  };
}
