import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { timers } from "../../node/platform.js";

// A client may pipeline: it sends further requests on its connection before it has the response to the first one.
//
// What Node does then. Its parser reads a chunk, up to 64 kB, at once: each request in it becomes an event `request` with a
// response of its own, before anything is sent. The socket belongs to one response at a time, `response.socket`; the event `finish`
// of that response hands it to the next one. What another response sends until then stays in memory. `pause` stops only the chunks
// after the one that is being read, and Node itself resumes a connection when one of its requests ends.
//
// What must be so here:
// - A request starts once its response has the socket, never before: it sees what those before it have changed, and no finished
//   response stays in memory.
// - A connection that is paused here has at least `maxWaiting` waiting requests, so that the start of one of them will resume it.

/** Once so many requests of a connection wait, it is not read any more. A few more can wait: those of the chunk that is being read. */
const maxWaiting = 100;

const latestResponse = Symbol("latest response");
const waitingRequests = Symbol("waiting requests");

/** A connection with its state between requests, in members, because a map would slow down every request. */
export interface Connection extends Duplex {
  /** The response to its latest request; those before it are sent first. */
  [latestResponse]?: ServerResponse;
  /** How many of its requests wait for the response before them. */
  [waitingRequests]?: number;
}

/** The response to the latest request of a connection, sent or not; `undefined` if there was no request. */
export function latestResponseOn(connection: Connection): ServerResponse | undefined {
  return connection[latestResponse];
}

/** Calls `respond` once the response before this one is sent: at once, or later. Never, if the connection ends before. */
export function respondInTurn(response: ServerResponse, respond: () => void): void {
  const connection: Connection & Socket = response.req.socket;
  const responseBefore = connection[latestResponse];
  connection[latestResponse] = response;

  // Node gives the socket to one response at a time.
  const isItsTurn = response.socket !== null || responseBefore === undefined;
  if (isItsTurn) {
    respond();
    return;
  }

  startWaiting(connection);
  responseBefore.once("finish", () => {
    endWaiting(connection);
    respond();
  });
}

/** Counts a request that waits, and stops reading its connection once many do. */
function startWaiting(connection: Connection): void {
  connection[waitingRequests] = waitingOn(connection) + 1;
  if (waitingOn(connection) < maxWaiting) return;
  // In the next tick, Node has parsed the chunk.
  timers.nextTick(() => {
    // Looks again: a response may have been sent since, and nothing would resume the connection after that.
    if (waitingOn(connection) >= maxWaiting) connection.pause();
  });
}

/** Counts a request that no longer waits, and reads its connection again once few do. */
function endWaiting(connection: Connection): void {
  const waiting = waitingOn(connection) - 1;
  connection[waitingRequests] = waiting;
  if (waiting === maxWaiting - 1) connection.resume();
}

/** How many requests of a connection wait. */
function waitingOn(connection: Connection): number {
  return connection[waitingRequests] ?? 0;
}
