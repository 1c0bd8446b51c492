import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "../../rules/errors.js";
import { quote } from "../../schema/words.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type { Io } from "../io.js";
import type { ServeFlags } from "../serve/serve-options.js";

/** Prints why a command could not be started. Returns the code with which a shell would end. */
export function sayWhyNotRun(
  program: string,
  failure: NodeJS.ErrnoException,
  { flags, io }: Pick<CommandCall<{ readonly format?: string; readonly json?: boolean }>, "flags" | "io">,
): number {
  const why = whyNotRun(program, failure);
  const error = new SandboxError("command_unusable", `Failed to run ${quote(program)}: ${why}.`);
  if (flags.json || flags.format === "json") io.stderr.write(describeFailure(error, { json: true }));
  else io.stderr.say(describeFailure(error, {}));
  return program === "" || failure.code === "ENOENT" ? 127 : 126;
}

function whyNotRun(program: string, { code, message }: NodeJS.ErrnoException): string {
  if (program === "") return "its name is empty, perhaps from a variable that is not set";
  if (code === "ENOENT") {
    return "there is no such command, or no such program in its first line. The command runs without a shell: write each word as its own argument, env before NAME=value, and npx before a command from this project's packages";
  }
  if (code === "EACCES") return "you may not execute it";
  return code ?? message;
}

/** Asks what may be wrong if a command has sent no request. */
export function whyNoRequest(
  { cwd }: Pick<Io, "cwd">,
  { tls, cert }: Pick<ServeFlags, "tls" | "cert">,
): string {
  const isSecure = tls || cert !== undefined;
  const trust = isSecure ? " Does it trust the certificate in SVC_CA_FILE?" : "";

  let mocks = "its tests mock HTTP, for example with msw";
  if (listsMsw(join(cwd, "package.json"))) {
    mocks = "its tests mock HTTP with other handlers of msw, which package.json lists";
  }
  return `Does it read the base URL from SVC_BASE_URL, and the key from SVC_API_KEY or an SVC_KEY_… variable?${trust} Or do ${mocks}? Use createHandlers of svc-sandbox/msw. If they do, the variable SVC_SANDBOX_RUN is missing in the process of your tests: pass it on, so that their requests count.`;
}

/** Whether a package.json has the package msw. One that is missing, or that cannot be read, has it not. */
function listsMsw(file: string): boolean {
  try {
    return /"msw"\s*:/.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}
