import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
} from "@redis/client";
import { SandboxError } from "../../domain/errors.js";
import { silentCode } from "./link.js";

/**
 * What is wrong with a Redis whose error has this code or message, and what to do: two sentences, of which the first goes
 * on behind "Failed to use the store …: ". `away`: the store may be back soon by itself.
 */
type Problem = readonly [error: RegExp, found: string, whatToDo: string, isAway?: "away"];

const elsewhere = "name another one with --store";

/** What Redis says against a command, by its first words. */
const refusals: readonly Problem[] = [
  [
    /^WRONGPASS|^ERR invalid password/,
    "it refuses the user or the password",
    "Check both in the URL: redis://user:password@host (redis://:password@host without a user)",
  ],
  [
    /^NOAUTH/,
    "it requires a password",
    "Give it in the URL: redis://:password@host, or redis://user:password@host",
  ],
  [
    /^ERR (?:AUTH <password> called without|Client sent AUTH)/,
    "it has no password, and the URL gives one",
    "Leave it out of the URL",
  ],
  [
    /^NOPERM|The user executing the script can't/,
    "the user may not do what a store needs",
    "Allow it ~{svc-sandbox:* +@read +@write +@connection +eval +evalsha +time +info +scan (with the prefix of --store-prefix)",
  ],
  [/READONLY|^UNBLOCKED/, "it is read-only, a replica of another one", "Name the one that takes writes"],
  [/OOM/, "it is full: its maxmemory is reached", "Give it more, or remove other data from it"],
  [
    /MISCONF/,
    "it takes no writes because it failed to save its data to the disk",
    "Look into its log, and make room there",
  ],
  [
    /^MOVED|^ASK|CLUSTERDOWN|CROSSSLOT/,
    "it is part of a Redis Cluster",
    "Name a Redis that is not part of a cluster",
  ],
  [/^LOADING/, "it is still loading its data", "Start again in a moment", "away"],
  [
    /^MASTERDOWN|^NOREPLICAS|^BUSY|^TRYAGAIN/,
    "it takes no writes at the moment",
    "Start again when it does",
    "away",
  ],
  [
    /DB index is out of range|SELECT is not allowed/,
    "it has no database of that number",
    "Take the number out of the URL",
  ],
  [/unknown command/i, "it is too old", "Redis 6.2 or newer, or Valkey, is needed"],
  [/^Unknown RESP|RESP type/i, "it does not respond as Redis does", `Check host and port, or ${elsewhere}`],
];

/** What the machine or TLS says against a connection, by its code. */
const failures: readonly Problem[] = [
  [/^ECONNREFUSED$/, "nothing listens there", `Start Redis, or ${elsewhere}`, "away"],
  [/^ENOTFOUND$/, "there is no such host", `Check the name, or ${elsewhere}`, "away"],
  [
    /^EAI_AGAIN$/,
    "the name of the host cannot be looked up",
    `Check the name and the network, or ${elsewhere}`,
    "away",
  ],
  [/^E(?:HOST|NET)UNREACH$/, "there is no way to the host", `Check the network, or ${elsewhere}`, "away"],
  [
    /^(?:ECONNRESET|EPIPE)$/,
    "it broke the connection off",
    "Check whether it wants TLS: rediss:// instead of redis://",
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
    "Use a name that the certificate has",
  ],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired", "Give it a new one"],
  [
    /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/,
    "its certificate is not trusted here",
    "Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority",
  ],
];

const closed = [ClientClosedError, ClientOfflineError, DisconnectsClientError, SocketClosedUnexpectedlyError];

function codeOf(error: unknown): string {
  if (error instanceof ConnectionTimeoutError) return silentCode;
  return closed.some((kind) => error instanceof kind)
    ? "EPIPE"
    : ((error as NodeJS.ErrnoException).code ?? "");
}

/** The problem that an error of a connection or an answer of Redis means. */
function problemOf(error: unknown): Problem {
  const { message } = error as Error;
  const find = (problems: readonly Problem[], text: string) => problems.find(([known]) => known.test(text));
  const failure = find(failures, codeOf(error));
  if (failure !== undefined) return failure;
  // A name with several addresses fails with one error for each.
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

/** The error for a store that cannot be used as it is. */
export function unfitStore(shown: string, why: string): SandboxError {
  return new SandboxError("store_unusable", `Failed to use the store ${shown}: ${why}`);
}

/** What is wrong with a store that was in use: half a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof SandboxError ? error.message : problemOf(error)[1];
}

/** Whether Redis takes no write because its memory is used up. */
export function isFullness(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.includes("OOM");
}

/** Whether Redis answered with this error: what was asked is not done. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SandboxError || error instanceof ErrorReply;
}

/** The error for a log whose snapshot is gone, and with it what was before. */
export function snapshotGone(shown: string): SandboxError {
  return unfitStore(
    shown,
    "its snapshot is gone, and so are the entries before it. Delete its keys to start again, or name others with --store-prefix.",
  );
}

/** The error for a key that is not of a log. */
export function foreignKey(shown: string, key: string): SandboxError {
  return unfitStore(
    shown,
    `it has the key ${JSON.stringify(key)}, which belongs to something else. Give this sandbox its own keys with --store-prefix.`,
  );
}
