import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { pick, type RandomStream } from "../../src/rules/seed.js";
import type { RawSending } from "./raw-socket.js";
import { mePath } from "./send.js";

/** Hostile requests of one kind; the file with the cases describes the templates. */
export interface HostileGroup extends RequestParts {
  readonly count: number;
  readonly text?: string;
  readonly change?: keyof typeof changes;
  readonly after?: readonly NonNullable<RawSending["after"]>[];
}

interface RequestParts {
  readonly line?: string;
  readonly host?: string;
  readonly key?: string | null;
  readonly headers?: readonly string[];
  readonly body?: string;
}

const file = new URL("../cases/hostile-requests.yaml", import.meta.url);
const { pieces, groups } = parse(readFileSync(file, "utf8")) as {
  pieces: Readonly<Record<string, readonly string[]>>;
  groups: Readonly<Record<string, HostileGroup>>;
};

export const hostileGroups = groups;

/** A request; whatever is left out is as it should be, and without a key. */
export function requestText({ line, host, key, headers = [], body = "" }: RequestParts): string {
  const keyLine = typeof key === "string" ? [`x-api-key: ${key}`] : [];
  const lines = headers.filter((header) => header !== "").map((header) => header.replace(/\r\n$/, ""));
  const head = [line ?? `GET ${mePath} HTTP/1.1`, `Host: ${host ?? "127.0.0.1"}`, ...keyLine, ...lines];
  return [...head, "", body].join("\r\n");
}

/** Makes one conversation of a group; every key in it comes from `key`. */
export function hostileSending(group: HostileGroup, draw: RandomStream, key: () => string): RawSending {
  const { text, change, after = ["end"], line, host, headers = [], body, key: keyPart = "{key}" } = group;
  const fill = (template: string) => expand(template, draw, key);
  const parts = { line, host, key: keyPart, body };
  const filled = Object.entries(parts).map(([name, part]) => [name, part == null ? undefined : fill(part)]);
  const sent =
    text === undefined
      ? requestText({ ...Object.fromEntries(filled), headers: headers.map(fill) })
      : fill(text);
  return { chunks: change === undefined ? [sent] : changes[change](draw, sent), after: pick(draw, after) };
}

function expand(template: string, draw: RandomStream, key: () => string): string {
  return template.replace(/\{([a-z_]+)(?:\*(\d+))?\}/g, (whole, name: string, max = "1") => {
    if (name === "key") return key();
    if (name === "spelled") return pick(draw, spellings)(key());
    if (name === "good") return requestText({ key: key() });
    if (name === "damaged") return damage(draw, requestText({ key: key(), headers: ["Accept: */*"] }));
    const listed = pieces[name];
    if (listed === undefined) return whole;
    const one = () => expand(pick(draw, listed), draw, key);
    return Array.from({ length: 1 + below(draw, Number(max)) }, one).join("");
  });
}

/** Other ways to write a key. */
const spellings: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => key.toUpperCase(),
  (key) => key.toLowerCase(),
  (key) => key.replaceAll("_", "%5f"),
  (key) => `%53${key.slice(1)}`,
  (key) => `%2553${key.slice(1)}`,
  ...["%", "%25", "%2525"].map((sign) => (key: string) => key.replace(/./g, (one) => sign + hexOf(one))),
];

const hexOf = (character: string) => character.charCodeAt(0).toString(16);

/** What is done to the text of a request, by its name in the groups: the pieces in which it is sent. */
const changes = {
  cut: (draw: RandomStream, text: string) => [text.slice(0, 1 + below(draw, text.length))],
  "byte by byte": (_draw: RandomStream, text: string) => [...text],
  "body later": (_draw: RandomStream, text: string) => text.split(/(?<=\r\n\r\n)/),
  "control character": (draw: RandomStream, text: string) => {
    const at = below(draw, text.length);
    return [text.slice(0, at) + String.fromCharCode(below(draw, 32)) + text.slice(at)];
  },
  "line endings": (draw: RandomStream, text: string) => {
    const ending = pick(draw, ["\n", "\r", "\n\r", "\r\r\n"]);
    return [text.replaceAll("\r\n", ending) + ending];
  },
  "random bytes": (draw: RandomStream) => [
    Buffer.from(Array.from({ length: 1 + below(draw, 400) }, () => draw() & 255)),
  ],
};

/** The text with some of its bytes changed, left out or doubled. */
function damage(draw: RandomStream, text: string): string {
  let result = text;
  for (let i = 0; i <= below(draw, 4); i++) {
    const at = below(draw, result.length);
    const byte = String.fromCharCode(draw() & 255);
    const insert = pick(draw, ["", byte, result[at] ?? "", "\r\n", "\0", " ", ":"]);
    result = result.slice(0, at) + insert + result.slice(at + below(draw, 2));
  }
  return result;
}

/** A number from 0 up to, not including, `end`. */
export function below(draw: RandomStream, end: number): number {
  return Math.floor((draw() / 4_294_967_296) * end);
}
