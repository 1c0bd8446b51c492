import type { Agent } from "node:http";
import type { AddressInfo, Socket } from "node:net";

const http = process.getBuiltinModule("node:http");
const https = process.getBuiltinModule("node:https");

/**
 * Serves a base URL's paths at their own origin: a path with a leading slash, such as `/v1/…`, would leave an instance's
 * base URL. Each connection has its counterpart, which faults reset, hold and cut.
 */
export async function forwardTo(baseUrl: string) {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const { Agent, request } = protocol === "https:" ? https : http;
  const agents = new WeakMap<Socket, Agent>();
  const agentOf = (socket: Socket) => {
    const agent = agents.get(socket) ?? new Agent({ keepAlive: true, maxSockets: 1 });
    if (!agents.has(socket)) socket.once("close", () => agent.destroy());
    agents.set(socket, agent);
    return agent;
  };
  const server = http.createServer((incoming, outgoing) => {
    const { socket, method, url: path = "/", rawHeaders: headers } = incoming;
    const to = { protocol, hostname, port, path: pathname + path, method, agent: agentOf(socket) };
    const sent = request({ ...to, headers: headers as never, setHost: false }, (response) => {
      outgoing.sendDate = false;
      outgoing.writeHead(response.statusCode as number, response.statusMessage, response.rawHeaders);
      // The client gets the head and the received part of the body.
      response.once("error", () => socket.destroySoon()).pipe(outgoing);
    });
    sent.once("error", () => (outgoing.headersSent ? socket.destroySoon() : socket.resetAndDestroy()));
    outgoing.once("close", () => outgoing.writableFinished || sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
