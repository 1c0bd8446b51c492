import { chmodSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { writeFileAtomically } from "../node/files/write-file.js";
import { isMarked, variableOf } from "../rules/api-key.js";
import { quote } from "../rules/schema/words.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { announcedKeys, defaultSecret, secretsForClients } from "../sandbox/secrets.js";
import type { RunningServer } from "../server/serve.js";
import { unwritable } from "./exit-codes.js";

type ClientVariables = Readonly<Record<string, string>>;

/** Of a server, leaves out some keys of a large population, because a process cannot get them all. */
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
  for (const [ref, secret] of Object.entries(secrets)) variables[variableOf(ref)] = secret;
  return variables;
}

/** The file of `--write-env`. */
export class EnvFile {
  readonly #name: string;
  readonly #path: string;
  #before: ClientVariables = {};

  constructor(name: string, cwd: string) {
    this.#name = name;
    this.#path = resolve(cwd, name);
  }

  /** Sets variables: other lines stay. Returns whether it took the file from others, because of a token. */
  write(variables: ClientVariables): boolean {
    try {
      const existing = readEnvFile(this.#path);
      const text = withVariables(existing.text, variables, this.#before);
      let mode = existing.mode ?? 0o600;
      // Nobody else may read a token.
      if ("SVC_SANDBOX_CONTROL_TOKEN" in variables) mode &= 0o700;

      const isNarrowed = existing.mode !== undefined && mode !== existing.mode;
      // A file with several names is written in place: nobody else reads the token in between.
      if (isNarrowed) chmodSync(this.#path, mode);
      writeFileAtomically(this.#path, Buffer.from(text, "latin1"), mode);
      // The mask of this process does not apply to the user's file.
      if (existing.mode !== undefined) chmodSync(this.#path, mode);
      this.#before = variables;
      return isNarrowed;
    } catch (error) {
      return unwritable(quote(this.#name), "Name another file with --write-env.")(error);
    }
  }
}

/** Its text, read as Latin-1, and its mode if it exists. */
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
  const line = otherLineOf(text);
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

// The start of a line, its name, its value; a quoted value may have several lines.
const assignment =
  /^([ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*)("(?:\\[\s\S]|[^"\\])*"|'[^']*'|`[^`]*`|[^\r\n]*?(?=[ \t]+#|[ \t]*$))/gm;

/** The number of the first line that is not an assignment, a comment or empty, outside of quotes; `undefined` if there is none. */
function otherLineOf(text: string): number | undefined {
  const withoutMark = text.replace(/^\u00EF\u00BB\u00BF/, "");
  // Each assignment becomes as many lines of comments.
  const withComments = withoutMark.replace(assignment, (entry) => `#${entry.replaceAll(/.+/g, "#")}`);
  const lines = withComments.split("\n");
  const index = lines.findIndex((line) => !/^\s*(?:#.*)?\s*$/.test(line));
  return index === -1 ? undefined : index + 1;
}

// Latin-1 does not have this character.
const goneMark = "\uE000";

/** Sets variables in the text of a `.env` file, read as Latin-1: changes their values, adds lines for new ones at the end, and removes the lines of those set before and of a sandbox's other keys. */
function withVariables(text: string, variables: ClientVariables, before: ClientVariables): string {
  const missing = new Map(Object.entries(variables));
  const marked = text.replace(assignment, (entry, start: string, name: string, value: string) => {
    missing.delete(name);
    if (Object.hasOwn(variables, name)) return start + variables[name];
    const isOtherKey = name.startsWith("SVC_KEY_") && isMarked(value);
    const isGone = isOtherKey || Object.hasOwn(before, name);
    return isGone ? goneMark : entry;
  });
  // With the rest of its line, such as a comment.
  const kept = marked.replace(new RegExp(`${goneMark}.*\\r?\\n?`, "g"), "");

  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  let result = kept;
  if (kept !== "" && !kept.endsWith("\n")) result += lineEnd;
  // Without quotes, which not every reader of .env files removes: in an assignment, no shell expands an IPv6 address.
  for (const [name, value] of missing) result += `${name}=${value}${lineEnd}`;
  return result;
}
