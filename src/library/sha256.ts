import { sha256 as digestOf } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** The SHA-256 of a text's UTF-8 bytes in hex, where the platform has no synchronous one. */
export function sha256Hex(text: string): string {
  return bytesToHex(digestOf(new TextEncoder().encode(text)));
}
