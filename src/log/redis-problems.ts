import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
} from "@redis/client";
import { SandboxError } from "../spec/errors.js";

/** The code of the error for a reply that did not arrive in time. */
export const silentCode = "REDIS_SILENT";

/**
 * A problem with a Redis, by the code or message of its error, and what to do. The first text continues "Failed to use the
 * store …: ". With `away`, the store may be back soon.
 */
type Problem = readonly [error: RegExp, found: string, whatToDo: string, isAway?: "away"];

const elsewhere = "name another one with --store";

/** Errors of Redis, by message. */
const refusals: readonly Problem[] = [
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
    /^ERR (?:AUTH <password> called without|Client sent AUTH)/,
    "it has no password, but the URL contains one",
    "Remove it from the URL",
  ],
  [
    /^NOPERM|The user executing the script can't/,
    "the user lacks permissions that a store needs",
    "Grant ~{svc-sandbox:* +@read +@write +@connection +eval +evalsha +time +info +scan (with the prefix of --store-prefix)",
  ],
  [/READONLY|^UNBLOCKED/, "it is a read-only replica of another Redis", "Name the Redis that accepts writes"],
  [/OOM/, "it is full: its maxmemory is reached", "Increase maxmemory, or remove other data"],
  [
    /MISCONF/,
    "it accepts no writes because it failed to save its data to disk",
    "Check its log, and free disk space",
  ],
  [
    /^MOVED|^ASK|CLUSTERDOWN|CROSSSLOT/,
    "it is part of a Redis Cluster",
    "Name a Redis that is not part of a cluster",
  ],
  [/^LOADING/, "it is still loading its data", "Start again in a moment", "away"],
  [
    /^MASTERDOWN|^NOREPLICAS|^BUSY|^TRYAGAIN/,
    "it currently accepts no writes",
    "Start again when it accepts writes",
    "away",
  ],
  [
    /DB index is out of range|SELECT is not allowed/,
    "it has no database with that number",
    "Remove the number from the URL",
  ],
  [/unknown command/i, "it is too old", "Use Redis 6.2 or newer, or Valkey"],
  [/^Unknown RESP|RESP type/i, "it does not respond like Redis", `Check host and port, or ${elsewhere}`],
];

/** Errors of the network or TLS, by code. */
const failures: readonly Problem[] = [
  [/^ECONNREFUSED$/, "nothing listens there", `Start Redis, or ${elsewhere}`, "away"],
  [/^ENOTFOUND$/, "there is no such host", `Check the name, or ${elsewhere}`, "away"],
  [
    /^EAI_AGAIN$/,
    "the host name cannot be looked up",
    `Check the name and the network, or ${elsewhere}`,
    "away",
  ],
  [/^E(?:HOST|NET)UNREACH$/, "the host cannot be reached", `Check the network, or ${elsewhere}`, "away"],
  [
    /^(?:ECONNRESET|EPIPE)$/,
    "it closed the connection",
    "Check whether it requires TLS: rediss:// instead of redis://",
    "away",
  ],
  [
    new RegExp(`^${silentCode}$`),
    "it does not respond",
    `Check host, port, firewall and whether it speaks TLS (rediss://), or ${elsewhere}`,
    "away",
  ],
  [/^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER)$/, "it does not speak TLS", "Use redis:// instead of rediss://"],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "its certificate is for another host",
    "Use a host name from the certificate",
  ],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired", "Renew the certificate"],
  [
    /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/,
    "its certificate is not trusted here",
    "Set NODE_EXTRA_CA_CERTS to a file with its CA certificate",
  ],
];

const closed = [ClientClosedError, ClientOfflineError, DisconnectsClientError, SocketClosedUnexpectedlyError];

function codeOf(error: unknown): string {
  if (error instanceof ConnectionTimeoutError || error instanceof SocketTimeoutError) return silentCode;
  return closed.some((kind) => error instanceof kind)
    ? "EPIPE"
    : ((error as NodeJS.ErrnoException).code ?? "");
}

/** Returns the problem that an error means. */
function problemOf(error: unknown): Problem {
  const { message } = error as Error;
  const find = (problems: readonly Problem[], text: string) => problems.find(([known]) => known.test(text));
  const failure = find(failures, codeOf(error));
  if (failure !== undefined) return failure;
  // A host name with several addresses fails with one error for each.
  if (error instanceof AggregateError) return problemOf(error.errors[0]);
  return find(refusals, message) ?? [/^/, `it reports ${JSON.stringify(message)}`, `Fix it, or ${elsewhere}`];
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

/** Whether Redis responded with this error, so that the command had no effect. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SandboxError || error instanceof ErrorReply;
}

/** The error for a key that does not belong to a log. */
export function foreignKey(shown: string, key: string): SandboxError {
  return unfitStore(
    shown,
    `it has the key ${JSON.stringify(key)}, which belongs to something else. Give this sandbox its own keys with --store-prefix.`,
  );
}
