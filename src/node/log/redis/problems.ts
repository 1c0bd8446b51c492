import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
} from "@redis/client";
import { SandboxError } from "../../../domain/errors.js";
import { silentCode } from "./link.js";

/** What is wrong with a Redis, and what to do: two sentences, without the name of the store. */
interface Problem {
  /** Goes on behind "Failed to use the store …: ". */
  readonly found: string;
  readonly whatToDo: string;
  /** Whether the store may be back soon by itself. */
  readonly isAway?: boolean;
}

const elsewhere = "name another one with --store";

/** What Redis says against a command, by its first words. */
const refusals: readonly (readonly [RegExp, Problem])[] = [
  [
    /^WRONGPASS|^ERR invalid password/,
    {
      found: "it refuses the user or the password",
      whatToDo: "Check both in the URL: redis://user:password@host (redis://:password@host without a user)",
    },
  ],
  [
    /^NOAUTH/,
    {
      found: "it asks for a password",
      whatToDo: "Give it in the URL: redis://:password@host, or redis://user:password@host",
    },
  ],
  [
    /^ERR (?:AUTH <password> called without|Client sent AUTH)/,
    { found: "it has no password, and the URL gives one", whatToDo: "Leave it out of the URL" },
  ],
  [
    /^NOPERM|The user executing the script can't/,
    {
      found: "the user may not do what a store needs",
      whatToDo:
        "Allow it ~svc-sandbox:* +@read +@write +@connection +eval +evalsha +time +info +scan (with the prefix of --store-prefix)",
    },
  ],
  [
    /READONLY/,
    { found: "it is read-only, a replica of another one", whatToDo: "Name the one that takes writes" },
  ],
  [
    /OOM/,
    {
      found: "it is full: its maxmemory is reached",
      whatToDo: "Give it more, or remove other data from it",
    },
  ],
  [
    /MISCONF/,
    {
      found: "it takes no writes because it failed to save its data to the disk",
      whatToDo: "Look into its log, and make room there",
    },
  ],
  [
    /^MOVED|^ASK|CLUSTERDOWN|CROSSSLOT/,
    { found: "it is part of a Redis Cluster", whatToDo: "Name a Redis that stands alone" },
  ],
  [/^LOADING/, { found: "it is still loading its data", whatToDo: "Start again in a moment", isAway: true }],
  [
    /^MASTERDOWN|^NOREPLICAS|^BUSY|^TRYAGAIN/,
    { found: "it takes no writes at the moment", whatToDo: "Start again when it does", isAway: true },
  ],
  [
    /DB index is out of range|SELECT is not allowed/,
    { found: "it has no database of that number", whatToDo: "Take the number out of the URL" },
  ],
  [/unknown command/i, { found: "it is too old", whatToDo: "Redis 6.2 or newer, or Valkey, is needed" }],
  [
    /^Unknown RESP|RESP type/i,
    { found: "it does not answer as Redis does", whatToDo: `Check host and port, or ${elsewhere}` },
  ],
];

const silent = away(
  "it does not answer",
  `Check host, port, firewall and whether it speaks TLS (rediss://), or ${elsewhere}`,
);
const brokenOff = away(
  "it broke the connection off",
  "Check whether it wants TLS: rediss:// instead of redis://",
);
const closed = [ClientClosedError, ClientOfflineError, DisconnectsClientError, SocketClosedUnexpectedlyError];

/** What the machine or TLS says against a connection, by its code. */
const failures: Readonly<Record<string, Problem>> = {
  ECONNREFUSED: away("nothing listens there", `Start Redis, or ${elsewhere}`),
  ENOTFOUND: away("there is no such host", `Check the name, or ${elsewhere}`),
  EAI_AGAIN: away(
    "the name of the host cannot be looked up",
    `Check the name and the network, or ${elsewhere}`,
  ),
  EHOSTUNREACH: away("there is no way to the host", `Check the network, or ${elsewhere}`),
  ENETUNREACH: away("there is no way to the host", `Check the network, or ${elsewhere}`),
  ECONNRESET: brokenOff,
  EPIPE: brokenOff,
  [silentCode]: silent,
  EPROTO: { found: "it does not speak TLS", whatToDo: "Use redis:// instead of rediss://" },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    found: "it does not speak TLS",
    whatToDo: "Use redis:// instead of rediss://",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    found: "its certificate is for another host",
    whatToDo: "Use a name that stands in the certificate",
  },
  CERT_HAS_EXPIRED: { found: "its certificate has expired", whatToDo: "Give it a new one" },
  ...Object.fromEntries(
    [
      "SELF_SIGNED_CERT_IN_CHAIN",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    ].map((code) => [
      code,
      {
        found: "its certificate is not trusted here",
        whatToDo: "Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority",
      },
    ]),
  ),
};

function away(found: string, whatToDo: string): Problem {
  return { found, whatToDo, isAway: true };
}

/** The problem that an error of a connection or an answer of Redis means. */
function problemOf(error: unknown): Problem {
  const { message, code = "" } = error as NodeJS.ErrnoException;
  if (failures[code] !== undefined) return failures[code];
  // A name with several addresses fails with one error for each.
  if (error instanceof AggregateError) return problemOf(error.errors[0]);
  if (error instanceof ConnectionTimeoutError) return silent;
  if (closed.some((kind) => error instanceof kind)) return brokenOff;
  const known = refusals.find(([pattern]) => pattern.test(message));
  return (
    known?.[1] ?? { found: `it says ${JSON.stringify(message)}`, whatToDo: `Mend that, or ${elsewhere}` }
  );
}

/** The error for a store that cannot be opened. */
export function unusableStore(shown: string, error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  const { found, whatToDo, isAway = false } = problemOf(error);
  return isAway
    ? new SandboxError("store_unavailable", `Failed to reach the store ${shown}: ${found}. ${whatToDo}.`)
    : new SandboxError("store_unusable", `Failed to use the store ${shown}: ${found}. ${whatToDo}.`);
}

/** What is wrong with a store that was in use: half a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof SandboxError ? error.message : problemOf(error).found;
}

/** Whether Redis answered with this error: what was asked is not done. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SandboxError || error instanceof ErrorReply;
}
