import type { ServerResponse } from "node:http";

/** Resets the connection on which the request of a response came, also when the response has to wait its turn on it. */
export function resetConnection({ req: { socket } }: ServerResponse): void {
  // Under TLS there is no socket of its own that Node would reset; to a client it is the same when it just ends.
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}
