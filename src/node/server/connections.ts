import type { Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { refuseSocket } from "./send-answer.js";

/** The member of a connection that holds the last of the answers that it owes; those before it are sent first. */
export const lastAnswer = Symbol("last answer");

/** A connection; a member of it, because a map would take longer with every request. */
export interface Connection extends Duplex {
  [lastAnswer]?: ServerResponse;
}

/** A server of HTTP or of HTTPS; the two have the same events and methods. */
export type AnyServer = Server | TlsServer;

// `undefined` when everything is sent.
function owedBy({ [lastAnswer]: last }: Connection): ServerResponse | undefined {
  return last?.writableFinished === true ? undefined : last;
}

/**
 * Refuses what came last on a connection, behind the answers that it owes; closes it at once when the refusal has no place.
 *
 * `code` is that of Node's parser; without one it is a CONNECT.
 */
export function refuseInTurn(connection: Connection, code?: string): void {
  const owed = owedBy(connection);
  const refuse = () => refuseSocket(connection, code);
  if (owed === undefined) refuse();
  else if (owed.req.complete) owed.once("finish", refuse);
  // The request that breaks off is the one being answered; one without a socket waits for those before it.
  else if (owed.socket !== null && !owed.headersSent) refuse();
  else connection.destroy();
}

/**
 * Watches the connections of a server; returns the function that closes it.
 *
 * A connection that owes no answer is closed at once, any other when its last answer is sent, or after `grace` milliseconds.
 */
export function watchConnections(server: AnyServer): (grace: number) => Promise<void> {
  const open = new Set<Socket>();
  const watch = (connection: Socket) => {
    open.add(connection);
    connection.once("close", () => open.delete(connection));
  };
  // Bare connections under TLS, until the handshake is done: some never do it.
  const handshakes = new Map<string, Socket>();
  server.on("connection", (socket) => {
    if (!("setSecureContext" in server)) return watch(socket);
    const peer = peerOf(socket);
    handshakes.set(peer, socket);
    socket.once("close", () => handshakes.delete(peer));
  });
  server.on("secureConnection", (socket) => {
    handshakes.delete(peerOf(socket));
    watch(socket);
  });
  return (grace) =>
    new Promise((resolve) => {
      const destroyAll = () => {
        for (const connection of [...handshakes.values(), ...open]) connection.destroy();
      };
      const deadline = setTimeout(destroyAll, grace);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      for (const connection of handshakes.values()) connection.destroy();
      for (const connection of open) {
        const owed = owedBy(connection);
        if (owed === undefined) connection.destroy();
        else owed.once("finish", () => connection.destroySoon());
      }
    });
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
