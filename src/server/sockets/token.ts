import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Server } from "./server-state.js";

/** The prefix of instance tokens, so that secret scanners and this server recognize them. */
export const instanceTokenPrefix = "svci_";

export function tokenIn({ headers }: IncomingMessage): string {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

/** Whether a call may do everything: it has the server's token, or the server needs none. */
export function isOwners({ token }: Pick<Server, "token">, sent: string): boolean {
  return token === undefined ? !sent.startsWith(instanceTokenPrefix) : isSame(sent, token);
}

// Hashes have the same length, so that the comparison takes the same time for every wrong text.
export function isSame(sent: string, right: string | undefined): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return right !== undefined && timingSafeEqual(digest(sent), digest(right));
}
