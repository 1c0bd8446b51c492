import { chmodSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { writeFileAtomically } from "../node/files/write-file.js";
import { hasSandboxMark, keyVariable } from "../rules/api-key.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { announcedKeys, defaultSecret, secretsForClients } from "../sandbox/secrets.js";
import { quote } from "../schema/words.js";
import type { RunningServer } from "../server/serve.js";
import { unwritable } from "./exit-codes.js";

type ClientVariables = Readonly<Record<string, string>>;

/** The variables that a client reads: its keys, and with a server its URLs. A server leaves out some keys of a large population, because a process cannot get them all. */
export function clientEnvironment(
  sandbox: SandboxState,
  server?: Pick<RunningServer, "url" | "controlUrl">,
): ClientVariables {
  const variables: Record<string, string> = {};
  if (server !== undefined) variables.SVC_BASE_URL = server.url;
  if (server?.controlUrl !== undefined) variables.SVC_CONTROL_URL = server.controlUrl;
  const standard = defaultSecret(sandbox);
  if (standard !== undefined) variables.SVC_API_KEY = standard;

  const secrets = secretsForClients(sandbox, server && announcedKeys(sandbox).keys);
  for (const [ref, secret] of Object.entries(secrets)) variables[keyVariable(ref)] = secret;
  return variables;
}

/** The file of `--write-env`. */
export class EnvFile {
  readonly #name: string;
  readonly #file: string;
  /** The variables that the last call has set. */
  #previous: ClientVariables = {};

  constructor(name: string, cwd: string) {
    this.#name = name;
    this.#file = resolve(cwd, name);
  }

  /** Sets variables: other lines stay. Returns whether it took the file from others, because of a token. */
  write(variables: ClientVariables): boolean {
    try {
      const existing = readEnvFile(this.#file);
      const text = textWithVariables(existing.text, variables, this.#previous);
      let mode = existing.mode ?? 0o600;
      // Nobody else may read a token.
      if ("SVC_SANDBOX_CONTROL_TOKEN" in variables) mode &= 0o700;

      const isNarrowed = existing.mode !== undefined && mode !== existing.mode;
      // A file with several names is written in place: nobody else reads the token in between.
      if (isNarrowed) chmodSync(this.#file, mode);
      writeFileAtomically(this.#file, Buffer.from(text, "latin1"), mode);
      // The mask of this process does not apply to the user's file.
      if (existing.mode !== undefined) chmodSync(this.#file, mode);
      this.#previous = variables;
      return isNarrowed;
    } catch (cause) {
      throw unwritable(cause, quote(this.#name), "Name another file with --write-env.");
    }
  }
}

/** The text of a `.env` file, read as Latin-1, and its mode if it exists. Throws if it is not one that may be changed. */
function readEnvFile(file: string): { readonly text: string; readonly mode?: number } {
  // With the slash, only a folder exists.
  statSync(`${dirname(file)}/`);
  requireOwnLink(file);
  const stats = statSync(file, { throwIfNoEntry: false });
  // A pipe or a device has no lines to keep.
  if (!stats?.isFile()) return { text: "" };

  const user = process.getuid?.();
  if (user !== undefined && user !== stats.uid) throw new Error("it belongs to another user");
  // Latin-1 keeps every byte.
  const text = readFileSync(file, "latin1");
  if (text.includes("\0")) throw new Error("it is not a text file in UTF-8");
  if ((stats.mode & 0o222) === 0) throw new Error("it is read-only");
  const line = firstForeignLine(text);
  if (line !== undefined) {
    throw new Error(`its line ${line} is not NAME=value, a comment or empty, so it is not a .env file`);
  }
  return { text, mode: stats.mode & 0o777 };
}

/** A link of another user leads to a file of their choice; an administrator may set one for everybody. */
function requireOwnLink(file: string): void {
  const user = process.getuid?.();
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (user === undefined || !stats?.isSymbolicLink()) return;
  const isTrusted = stats.uid === user || stats.uid === 0;
  if (isTrusted) return;
  throw new Error("it is a symbolic link of another user");
}

/**
 * An assignment of a `.env` file, without a comment behind it. Its groups: the line up to the value, such as
 * `export NAME = `; the name in it; the value. A value in quotes may have several lines.
 */
const assignment =
  /^([ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*)("(?:\\[\s\S]|[^"\\])*"|'[^']*'|`[^`]*`|[^\r\n]*?(?=[ \t]+#|[ \t]*$))/gm;

/** The number of the first line that a `.env` file cannot have: neither an assignment nor a comment, and not empty. */
function firstForeignLine(text: string): number | undefined {
  // The mark of UTF-8, as Latin-1 reads it.
  const withoutMark = text.replace(/^\u00EF\u00BB\u00BF/, "");
  // Each line of an assignment becomes a comment, so that the lines keep their numbers.
  const withComments = withoutMark.replace(assignment, (entry) => entry.replaceAll(/.+/g, "#"));

  const lines = withComments.split("\n");
  const index = lines.findIndex((line) => !/^\s*(?:#.*)?\s*$/.test(line));
  return index === -1 ? undefined : index + 1;
}

/**
 * The text of a `.env` file with other values of its variables, and with new variables at its end. It loses the variables
 * that were set before and are no more, and the keys of other sandboxes.
 */
function textWithVariables(text: string, variables: ClientVariables, previous: ClientVariables): string {
  const missing = new Map(Object.entries(variables));
  let result = "";
  // Where the part of the text begins that is not in the result yet.
  let position = 0;
  for (const match of text.matchAll(assignment)) {
    const [entry, start = "", name = "", value = ""] = match;
    result += text.slice(position, match.index);
    position = match.index + entry.length;

    missing.delete(name);
    const isOldKey = name.startsWith("SVC_KEY_") && hasSandboxMark(value);
    if (Object.hasOwn(variables, name)) {
      result += start + variables[name];
    } else if (isOldKey || Object.hasOwn(previous, name)) {
      // The rest of its line goes with it, such as a comment.
      position += /^.*\r?\n?/.exec(text.slice(position))?.[0].length ?? 0;
    } else {
      result += entry;
    }
  }
  result += text.slice(position);

  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  if (result !== "" && !result.endsWith("\n")) result += lineEnd;
  // Values have no quotes, which not every reader of .env files removes. In an assignment, no shell expands an IPv6 address.
  for (const [name, value] of missing) result += `${name}=${value}${lineEnd}`;
  return result;
}
