import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port on which nothing listens at the moment.
 *
 * It is below the ports that a system hands out for port 0 and for clients (from 32768 on Linux): until its program
 * listens, none of them may get it. Each worker of Vitest has a thousand of its own, and starts anywhere in them, as
 * the tests of another copy of the project may run at the same time.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + next;
    next = (next + 1) % ownPorts;
    if (await canListen(port)) return port;
  }
}

const ownPorts = 1_000;
const firstPort = 10_000 + ownPorts * (Number(process.env.VITEST_POOL_ID ?? 0) % 20);
let next = Math.floor(Math.random() * ownPorts);

async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
