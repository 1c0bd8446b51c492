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
 * Stops accepting and closes the connections of a server, of HTTPS both the bare and the encrypted ones.
 *
 * A connection that owes no answer is closed at once, any other when its last answer is sent, or after `grace` milliseconds.
 */
export function closeServer(server: AnyServer, open: ReadonlySet<Socket>, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      for (const connection of open) connection.destroy();
    }, grace);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    // The bare connection does not know what the encrypted one owes; they have the same peer.
    const owing = new Set<string>();
    for (const connection of open) {
      const owed = owedBy(connection);
      if (owed !== undefined) owing.add(peerOf(connection));
      owed?.once("finish", () => connection.destroySoon());
    }
    for (const connection of open) if (!owing.has(peerOf(connection))) connection.destroy();
  });
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
