import { describeConnectionError } from "../node/clients/send-once.js";
import { SandboxError } from "../spec/errors.js";

/**
 * A problem with a Redis, by the message of its error, and what to do. The first text continues "Failed to use the store …: ".
 * With `away`, the store may be back soon.
 */
type Problem = readonly [error: RegExp, found: string, whatToDo: string, isAway?: "away" | undefined];

const permissions = "~{svc-sandbox:* +@read +@write +@connection +eval +evalsha +time +info";

const problems: readonly Problem[] = [
  [
    /closed|offline|Disconnects|ECONNRESET|EPIPE/,
    "it closed the connection",
    "Check whether it requires TLS: rediss:// instead of redis://",
    "away",
  ],
  [/EPROTO|wrong version number/, "it does not speak TLS", "Use redis:// instead of rediss://"],
  [
    /timeout/,
    "it does not respond",
    "Check host, port, firewall and whether it speaks TLS (rediss://)",
    "away",
  ],
  [
    /^WRONGPASS|^ERR invalid password/,
    "it rejects the user or the password",
    "Check both in the URL: redis://user:password@host (redis://:password@host without a user)",
  ],
  [
    /^NOAUTH/,
    "it requires a password",
    "Add it to the URL: redis://:password@host, or redis://user:password@host",
  ],
  [
    /^ERR (AUTH <password> called without|Client sent AUTH)/,
    "it has no password, but the URL contains one",
    "Remove it from the URL",
  ],
  [
    /^NOPERM|The user executing the script can't/,
    "the user lacks permissions that a store needs",
    `Grant ${permissions} (with the prefix of --store-prefix)`,
  ],
  [/READONLY|^UNBLOCKED/, "it is a read-only replica of another Redis", "Name the Redis that accepts writes"],
  [/OOM/, "it is full: its maxmemory is reached", "Increase maxmemory, or remove other data"],
  [
    /MISCONF/,
    "it accepts no writes because it failed to save its data",
    "Check its log, and free disk space",
  ],
  [/^MOVED|^ASK|CLUSTERDOWN|CROSSSLOT/, "it is part of a Redis Cluster", "Name a Redis without a cluster"],
  [/^LOADING/, "it is still loading its data", "Start again in a moment", "away"],
  [/^MASTERDOWN|^NOREPLICAS|^BUSY|^TRYAGAIN/, "it currently accepts no writes", "Wait until it does", "away"],
  [/DB index|SELECT is not/, "it has no database with that number", "Remove the number from the URL"],
  [/unknown command/i, "it is too old", "Use Redis 6.2 or newer, or Valkey"],
  [/Unknown RESP|RESP type/i, "it does not respond like Redis", "Check host and port"],
];

/** Returns the problem that an error means. */
function problemOf(error: unknown): Problem {
  const { message, code = "" } = error as NodeJS.ErrnoException;
  const known = problems.find(([text]) => text.test(message));
  if (known !== undefined) return known;
  const isOfNetwork = error instanceof AggregateError || code !== "";
  if (!isOfNetwork)
    return [/^/, `it reports ${JSON.stringify(message)}`, "Fix it, or name another one with --store"];
  const { found, hint } = describeConnectionError(error as NodeJS.ErrnoException);
  const isOfTls = /CERT|SSL|TLS|SIGN|VERIFY/.test(code);
  return [/^/, found, hint.replace(/\.$/, ""), isOfTls ? undefined : "away"];
}

/** The error for a store that cannot be opened. */
export function unusableStore(shown: string, error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  const [, found, whatToDo, isAway] = problemOf(error);
  return isAway === "away"
    ? new SandboxError("store_unavailable", `Failed to reach the store ${shown}: ${found}. ${whatToDo}.`)
    : unfitStore(shown, `${found}. ${whatToDo}.`);
}

/** The error for a store that cannot be used. */
export function unfitStore(shown: string, why: string): SandboxError {
  return new SandboxError("store_unusable", `Failed to use the store ${shown}: ${why}`);
}

/** Returns the problem of a store in use, as half a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof SandboxError ? error.message : problemOf(error)[1];
}

/** Whether Redis rejects writes because its memory is full. */
export function isFullness(error: unknown): boolean {
  return error instanceof Error && /\bOOM\b/.test(error.message);
}
