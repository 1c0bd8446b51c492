import {
  findPrefix,
  hasSandboxMark,
  isWellFormedKey,
  maximumKeyLength,
  randomLength,
  sandboxMark,
} from "./key-text.js";

/** Describes a presented key without any of its characters (R46): `18 characters, a quotation mark first`. */
export function describeKeyForm(presented: string): string {
  if (presented === "") return "empty";
  const length = presented.length === 1 ? "1 character" : `${presented.length} characters`;

  const prefix = findPrefix(presented)?.prefix;
  if (prefix === undefined) {
    if (presented.startsWith('"') || presented.startsWith("'")) return `${length}, a quotation mark first`;
    if (presented.includes(" ")) return `${length}, no prefix of a key, a space in it`;
    return `${length}, no prefix of a key`;
  }
  if (prefix === presented) return `${length}, nothing behind the prefix`;
  if (presented.length > maximumKeyLength) return `${length}, more than a key can have`;
  if (!isWellFormedKey(presented)) return `${length}, some of which no key has`;
  if (!hasSandboxMark(presented)) return `${length}, without the mark of a sandbox`;

  // A sandbox's key, perhaps cut or extended.
  const excess = presented.length - prefix.length - sandboxMark.length - randomLength;
  if (excess === 0) return length;
  const comparison = excess > 0 ? `${excess} more` : `${-excess} less`;
  return `${length}: ${comparison} than a key of this sandbox has`;
}
