import type { Agent } from "node:http";
import { exchange } from "./exchange.js";
import { isOfTheConnection, mePath, type Send, textOf } from "./send.js";

/** Sends to a port of this machine; by default each request on its own connection. */
export function sendOnSocket(port: number, agent?: Agent): Send {
  return async ({ path = mePath, ...sent }) => {
    const options = { ...sent, path, ...(agent !== undefined && { agent }) };
    const { status, pairs, bytes } = await exchange(`http://127.0.0.1:${port}`, options);
    return { status, headers: pairs.filter(([name]) => !isOfTheConnection(name)), body: textOf(bytes) };
  };
}
