import { accessSync, chmodSync, constants, existsSync, lstatSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { readSmallFile } from "../node/files/write-file.js";
import type { Logger } from "../node/logger.js";
import { SandboxError } from "../rules/errors.js";
import { keyVariable } from "../rules/keys/key-text.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { defaultSecret, firstKeys, secretsByRef, secretsOfNoKey } from "../sandbox/secrets.js";
import { quoteFile } from "../schema/words.js";
import type { RunningServer } from "../server/serve.js";
import { unwritable } from "./exit-codes.js";

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
    writeEnvFile(name, cwd, variables);
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

/** The variables that a client reads, by their names. */
type ClientVariables = Readonly<Record<string, string>>;

/** Sets variables in the file of `--write-env`. With a token among them, only this user can read the file from then on. */
export function writeEnvFile(name: string, cwd: string, variables: ClientVariables): void {
  const file = resolve(cwd, name);
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    const user = process.getuid?.();
    // Another user could read the keys, or choose with a link which file of ours is written. An administrator may have made it.
    const isOwn = stats === undefined || user === undefined || stats.uid === user || stats.uid === 0;
    if (!isOwn) throw new Error("it belongs to another user");

    const isFile = existsSync(file);
    // Latin-1 keeps every byte of the other lines.
    const text = isFile ? readSmallFile(file).toString("latin1") : "";
    if (text.includes("\0")) throw new Error("it is not a text");
    if (isFile) accessSync(file, constants.W_OK);
    const hasToken = "SVC_SANDBOX_CONTROL_TOKEN" in variables;
    if (isFile && hasToken) chmodSync(file, 0o600);
    writeFileSync(file, Buffer.from(withBlock(text, variables), "latin1"), { mode: newFileMode });
  } catch (cause) {
    throw unwritable(cause, quoteFile(name), "Name another file with --write-env.");
  }
}

// Around the lines of a sandbox in a `.env` file. All other lines are the user's.
const startOfBlock = "# svc-sandbox sets the lines from here";
const endOfBlock = "# to here.";

/** Returns a text with the variables in its block, which replaces an earlier one, or else stands at the end: the last line of a name counts. */
function withBlock(text: string, variables: ClientVariables): string {
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  // Values have no quotes, which not every reader of .env files removes. They need none.
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const block = [startOfBlock, ...lines, endOfBlock].join(lineEnd);

  // The last one: whoever has removed the end of an earlier block keeps all lines after it.
  const start = text.lastIndexOf(startOfBlock);
  const end = text.indexOf(endOfBlock, start);
  if (start !== -1 && end !== -1) return text.slice(0, start) + block + text.slice(end + endOfBlock.length);
  const isOpenLine = text !== "" && !text.endsWith("\n");
  return `${text}${isOpenLine ? lineEnd : ""}${block}${lineEnd}`;
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
  if (server !== undefined) keySecrets = secretsByRef(sandbox, firstKeys(sandbox).keys);
  // What a client sends as `unknown` and as `malformed`, which the sandbox rejects.
  const secrets = { ...keySecrets, ...secretsOfNoKey(sandbox) };
  for (const [ref, secret] of Object.entries(secrets)) variables[keyVariable(ref)] = secret;
  return variables;
}
