import { pick, type RandomStream } from "../../src/domain/seed.js";
import type { RawSending } from "./raw-socket.js";

/** Makes one hostile conversation; every key that it contains comes from `key`. */
type Hostile = (draw: RandomStream, key: () => string) => RawSending;

/** Hostile conversations of one kind. */
export interface HostileGroup {
  readonly count: number;
  readonly hostile: Hostile;
}

/** A number from 0 up to, not including, `end`. */
export function below(draw: RandomStream, end: number): number {
  return Math.floor((draw() / 4_294_967_296) * end);
}

export function often(draw: RandomStream, text: string, most: number): string {
  return text.repeat(1 + below(draw, most));
}

/** Between requests that are understood and the connection's other traffic: anything that may stand in a header. */
export function keyedLines(draw: RandomStream, key: () => string): string[] {
  const names = [
    "Authorization: Bearer",
    "Cookie: key=",
    "X-Api-Key",
    "Referer: http://x/?k=",
    "X-Forwarded-For:",
    "User-Agent:",
  ];
  return Array.from({ length: 1 + below(draw, 3) }, () => `${pick(draw, names)} ${key()}`);
}
