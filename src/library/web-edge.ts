import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Edge } from "../sandbox/edge.js";
import { makeFarmers } from "../sandbox/farmers.js";

/** The edge of a world that runs in any modern JavaScript runtime, browsers included. */
export const webEdge: Edge = {
  sha256: (text) => bytesToHex(sha256(utf8ToBytes(text))),
  // Read when used, so that a test runner's fake timers move the sandbox's clock too.
  time: () => Date.now(),
  stopwatch: () => performance.now(),
  farmers: makeFarmers,
  random: () => crypto.getRandomValues(new Uint32Array(1))[0] as number,
};
