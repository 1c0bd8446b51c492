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
//   Who pauses it for another reason does so with `pausedUntil`.
// - `#waitingInAll` counts each waiting request of an open connection once: it is subtracted when it starts, or else when its
//   connection closes.
// - Few requests wait on all connections together, however many clients read nothing: connections with many of them end.

/**
 * Once so many requests of one connection wait, it is not read any more. A few more can wait: Node parses all requests of one
 * chunk, and resumes reading when a request ends.
 */
const maxWaiting = 100;

/**
 * Beyond so many waiting requests of all connections, connections are ended. Each takes 3 kB. A client that reads its responses
 * has one chunk of 64 kB that waits: at most 2,427 requests.
 */
const maxWaitingInAll = 2500;

/** A connection with no more waiting requests is never ended because of the others. */
const alwaysAllowed = 10;

const latestResponse = Symbol("latest response");
const waitingRequests = Symbol("waiting requests");

/** A connection with its state between requests, in members, because a map would slow down every request. */
export interface Connection extends Duplex {
  /** The response to its latest request; those before it are sent first. */
  [latestResponse]?: ServerResponse;
  /** How many of its requests wait for the response before them. */
  [waitingRequests]?: number;
  /** Node's parser of the connection. */
  parser?: { onIncoming: () => number } | null;
}

/** The response to the latest request of a connection, sent or not; `undefined` if there was no request. */
export function latestResponseOn(connection: Connection): ServerResponse | undefined {
  return connection[latestResponse];
}

/** Starts each request of a connection once the response before it is sent. */
export class PipelinedRequests {
  /** The waiting requests of all open connections. */
  #waitingInAll = 0;

  /** Calls `respond` at once or in turn; never, if the connection ends before. */
  start(response: ServerResponse, respond: () => void): void {
    const connection: Connection & Socket = response.req.socket;
    const responseBefore = connection[latestResponse];
    connection[latestResponse] = response;

    // The first response of a connection waits for none. Any later one has the socket once those before it are sent.
    const isItsTurn = responseBefore === undefined || response.socket !== null;
    if (isItsTurn) {
      respond();
      return;
    }

    this.#startWaiting(connection);
    responseBefore.once("finish", () => {
      this.#endWaiting(connection);
      respond();
    });
  }

  /** Counts a request that waits. Limits how many do, by this connection and by all. */
  #startWaiting(connection: Connection): void {
    // The requests of a closed connection no longer wait.
    const isFirst = connection[waitingRequests] === undefined;
    if (isFirst) connection.once("close", () => this.#forgetWaiting(connection));

    const waiting = waitingOn(connection) + 1;
    connection[waitingRequests] = waiting;
    this.#waitingInAll += 1;

    if (this.#waitingInAll > maxWaitingInAll && waiting > alwaysAllowed) {
      // Pausing would not help: many clients that read nothing have sent everything already. Node calls this function with each request,
      // and stops parsing where it returns -1. Otherwise, it would parse all further requests of the chunk, and keep them until the
      // connection has closed.
      if (connection.parser) connection.parser.onIncoming = () => -1;
      connection.destroy();
      return;
    }
    if (hasManyWaiting(connection)) pauseAfterChunk(connection, () => hasManyWaiting(connection));
  }

  /** Counts a request that no longer waits, and reads its connection again once few do. */
  #endWaiting(connection: Connection): void {
    const waiting = waitingOn(connection) - 1;
    connection[waitingRequests] = waiting;
    this.#waitingInAll -= 1;
    if (waiting === maxWaiting - 1) connection.resume();
  }

  #forgetWaiting(connection: Connection): void {
    this.#waitingInAll -= waitingOn(connection);
  }
}

/** How many requests of a connection wait. */
function waitingOn(connection: Connection): number {
  return connection[waitingRequests] ?? 0;
}

/** Whether so many requests of a connection wait that it is not read any more. */
function hasManyWaiting(connection: Connection): boolean {
  return waitingOn(connection) >= maxWaiting;
}

/**
 * Stops reading a connection in the next tick, when Node has parsed the chunk. `isNeeded` tells whether there is still a reason then:
 * without one, nothing would resume the connection.
 */
function pauseAfterChunk(connection: Connection, isNeeded: () => boolean): void {
  timers.nextTick(() => {
    if (isNeeded()) connection.pause();
  });
}

/** Returns the result of a loading. Pauses a connection meanwhile: otherwise all of its further data would be buffered. */
export async function pausedUntil<Result>(loading: Promise<Result>, connection: Connection): Promise<Result> {
  let isLoading = true;
  pauseAfterChunk(connection, () => isLoading);
  try {
    return await loading;
  } finally {
    isLoading = false;
    // With many waiting requests, the start of one of them resumes the connection.
    if (!hasManyWaiting(connection)) connection.resume();
  }
}
