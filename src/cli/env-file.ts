import { chmodSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Logger } from "../node/logger.js";
import { SandboxError } from "../rules/errors.js";
import { hasSandboxMark, keyVariable } from "../rules/keys/key-text.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { announcedKeys, defaultSecret, secretsByRef, secretsOfNoKey } from "../sandbox/secrets.js";
import { quoteFile } from "../schema/words.js";
import type { RunningServer } from "../server/serve.js";
import { unwritable } from "./exit-codes.js";
import { writeWholeFile } from "./output-files.js";

/** Only the user reads a new file: it has keys. */
const newFileMode = 0o600;

/**
 * Keeps the variables of a server's clients in the file of `--write-env`, also after each new start of its sandbox. A failure of
 * the first write is thrown, and a later one is only reported: the server continues.
 */
export function keepEnvFile(
  name: string,
  {
    cwd,
    sandbox,
    server,
    logger,
  }: {
    readonly cwd: string;
    readonly sandbox: SandboxState;
    readonly server: RunningServer;
    readonly logger: Logger;
  },
): void {
  const write = () => {
    const variables: Record<string, string> = { ...clientEnvironment(sandbox, server) };
    if (server.controlToken !== undefined) variables.SVC_SANDBOX_CONTROL_TOKEN = server.controlToken;
    const isNarrowed = writeEnvFile(name, cwd, variables);
    if (!isNarrowed) return;
    logger.note(`Only you can read ${quoteFile(name)} now (0600): it contains the control token.`);
  };

  write();
  sandbox.journal.subscribe(({ type }) => {
    // After a reset or a reload, the keys are others.
    if (type !== "sandbox.started") return;
    try {
      write();
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      logger.problem(error.message);
    }
  });
}

/** Sets variables in the file of `--write-env`: other lines stay. Returns whether it took the file from others, because of a token. */
export function writeEnvFile(name: string, cwd: string, variables: ClientVariables): boolean {
  const file = resolve(cwd, name);
  try {
    const existing = readEnvFile(file);
    const text = withVariables(existing.text, variables);
    // Nobody else may read a token, also while it is written.
    const hasToken = "SVC_SANDBOX_CONTROL_TOKEN" in variables;
    const isNarrowed = hasToken && (existing.mode & 0o077) !== 0;
    if (isNarrowed) chmodSync(file, existing.mode & 0o700);
    writeWholeFile(file, Buffer.from(text, "latin1"), newFileMode);
    return isNarrowed;
  } catch (cause) {
    throw unwritable(cause, quoteFile(name), "Name another file with --write-env.");
  }
}

/** The content of a `.env` file, read as Latin-1, which keeps every byte; of one that does not exist, what a new one starts with. Throws if it is not one that may be changed. */
function readEnvFile(file: string): { readonly text: string; readonly mode: number } {
  // Throws if there is no folder for it. With the slash at its end, a file in place of the folder throws, too.
  statSync(`${dirname(file)}/`);
  requireOwnLink(file);
  const stats = statSync(file, { throwIfNoEntry: false });
  // A pipe or a device has no lines to keep.
  if (!stats?.isFile()) return { text: "", mode: newFileMode };

  const user = process.getuid?.();
  if (user !== undefined && user !== stats.uid) throw new Error("it belongs to another user");
  const text = readFileSync(file, "latin1");
  if (text.includes("\0")) throw new Error("it is not a text file in UTF-8");
  if ((stats.mode & 0o222) === 0) throw new Error("it is read-only");
  const line = findForeignLine(text);
  if (line !== undefined) {
    throw new Error(`its line ${line} is not NAME=value, a comment or empty, so it is not a .env file`);
  }
  return { text, mode: stats.mode & 0o777 };
}

/** Throws if the file is a link of another user, who could choose any file of ours. An administrator may make a link for everybody. */
function requireOwnLink(file: string): void {
  const user = process.getuid?.();
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (user === undefined || !stats?.isSymbolicLink()) return;
  const isTrusted = stats.uid === user || stats.uid === 0;
  if (isTrusted) return;
  throw new Error("it is a symbolic link of another user");
}

/** The variables that a client reads, by their names. */
export type ClientVariables = Readonly<Record<string, string>>;

/** An assignment of a `.env` file, to the end of its last line. Its parts, of `export A = "1" # one`: */
interface Assignment {
  readonly kind: "assignment";
  /** `export A = ` */
  readonly start: string;
  /** `A` */
  readonly name: string;
  /** `"1"`: as it is written. In quotes, it may have several lines. */
  readonly value: string;
  /** ` # one`, with the line end */
  readonly end: string;
}

/** The mark of UTF-8 at the start of a file, as Latin-1 reads it. */
const byteOrderMark = "\u00EF\u00BB\u00BF";

/** Reads the parts of a `.env` file without a byte order mark: assignments, and other lines, each with its end. */
function readParts(text: string): (Assignment | { readonly kind: "other"; readonly text: string })[] {
  const parts: ReturnType<typeof readParts> = [];
  let rest = text;
  while (rest !== "") {
    const [beforeValue = "", name] = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=/.exec(rest) ?? [];
    if (name === undefined) {
      const [line = ""] = firstLine.exec(rest) ?? [];
      parts.push({ kind: "other", text: line });
      rest = rest.slice(line.length);
      continue;
    }

    rest = rest.slice(beforeValue.length);
    const { blanks, value } = valueAfterEquals(rest);
    rest = rest.slice(blanks.length + value.length);
    const [end = ""] = firstLine.exec(rest) ?? [];
    rest = rest.slice(end.length);
    parts.push({ kind: "assignment", start: beforeValue + blanks, name, value, end });
  }
  return parts;
}

/** The first line of a text, with its end. */
const firstLine = /^[^\n]*\n?/;

/** `"a \" b"`, `'a'` or `` `a` ``: each may have several lines. */
const quotedValue = /^(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|`[^`]*`)/;

/** The value at the start of the text after `=`, and the blanks before it. */
function valueAfterEquals(text: string): { readonly blanks: string; readonly value: string } {
  const [blanks = ""] = /^[ \t]*/.exec(text) ?? [];
  const afterBlanks = text.slice(blanks.length);
  // `A=  # a comment` has an empty value.
  if (blanks !== "" && afterBlanks.startsWith("#")) return { blanks: "", value: "" };
  const [quoted = ""] = quotedValue.exec(afterBlanks) ?? [];
  // The quotes may end before the value does, as in `"http://localhost"/v1` and in `"a" "b"`.
  const afterQuotes = afterBlanks.slice(quoted.length);
  if (quoted !== "" && afterQuotes.startsWith("#")) return { blanks, value: quoted };

  // The value ends before a comment, and before the blanks at the end of the line.
  const [line = ""] = /^[^\r\n]*/.exec(afterQuotes) ?? [];
  const unquoted = line.replace(/[ \t]+#.*$/, "").replace(/[ \t]+$/, "");
  return { blanks, value: quoted + unquoted };
}

/** The number of the first line that no `.env` file has: neither an assignment nor a comment, and not empty. */
export function findForeignLine(text: string): number | undefined {
  let number = 1;
  for (const part of readParts(withoutMark(text))) {
    if (part.kind === "assignment") {
      number += `${part.value}${part.end}`.split("\n").length - 1;
      continue;
    }
    const isCommentOrEmpty = /^\s*(?:#.*)?\s*$/.test(part.text);
    if (!isCommentOrEmpty) return number;
    number += 1;
  }
  return undefined;
}

function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
}

/**
 * Returns the text of a `.env` file with these variables: each where it is, or at the end. What another sandbox has left there
 * leaves: its keys in `SVC_API_KEY` and `SVC_KEY_…`, and its `SVC_CONTROL_URL`. All other lines stay.
 */
export function withVariables(text: string, variables: ClientVariables): string {
  const content = withoutMark(text);
  const toAppend = new Map(Object.entries(variables));
  let result = text.slice(0, text.length - content.length);
  for (const part of readParts(content)) {
    if (part.kind === "other") {
      result += part.text;
      continue;
    }

    const { start, name, value, end } = part;
    toAppend.delete(name);
    if (Object.hasOwn(variables, name)) result += start + variables[name] + end;
    else if (!isOfAnotherSandbox(part)) result += start + value + end;
  }

  // Most lines decide.
  const ends = text.split("\n").length - 1;
  const windowsEnds = text.split("\r\n").length - 1;
  const lineEnd = windowsEnds * 2 > ends ? "\r\n" : "\n";
  if (result !== "" && !result.endsWith("\n")) result += lineEnd;
  // Values have no quotes, which not every reader of .env files removes. They need none: in an assignment, no shell expands the
  // brackets of an IPv6 address.
  for (const [name, value] of toAppend) result += `${name}=${value}${lineEnd}`;
  return result;
}

/** Whether an assignment sets a variable that clients read to what only another sandbox has. */
function isOfAnotherSandbox({ name, value }: Assignment): boolean {
  // It goes with the SVC_BASE_URL of that sandbox.
  if (name === "SVC_CONTROL_URL") return true;
  const unquoted = value.replace(/^(["'`])(.*)\1$/s, "$2");
  const isOfKey = name === "SVC_API_KEY" || name.startsWith("SVC_KEY_");
  return isOfKey && hasSandboxMark(unquoted);
}

/**
 * The variables that a client reads: all keys of a sandbox, without URLs. With a server, its URLs and the keys that it announces:
 * a process cannot get all keys of a large population.
 */
export function clientEnvironment(
  sandbox: SandboxState,
  server?: Pick<RunningServer, "url" | "controlUrl">,
): ClientVariables {
  const variables: Record<string, string> = {};
  if (server !== undefined) variables.SVC_BASE_URL = server.url;
  if (server?.controlUrl !== undefined) variables.SVC_CONTROL_URL = server.controlUrl;
  const defaultKeySecret = defaultSecret(sandbox);
  if (defaultKeySecret !== undefined) variables.SVC_API_KEY = defaultKeySecret;

  let keySecrets = secretsByRef(sandbox);
  if (server !== undefined) keySecrets = secretsByRef(sandbox, announcedKeys(sandbox).keys);
  // What a client sends as `unknown` and as `malformed`, which the sandbox rejects.
  const secrets = { ...keySecrets, ...secretsOfNoKey(sandbox) };
  for (const [ref, secret] of Object.entries(secrets)) variables[keyVariable(ref)] = secret;
  return variables;
}
