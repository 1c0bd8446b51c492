import { describeConnectionError } from "../../node/clients/send-once.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";

/**
 * A problem with a Redis, by the message of its error, and what to do. The first text continues "Failed to use the store …: ".
 * With `away`, the store may be back soon.
 */
type Problem = readonly [error: RegExp, found: string, whatToDo: string, isAway?: "away" | undefined];

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
  [/OOM/, "it is full: its maxmemory is reached", "Increase maxmemory, or remove other data"],
  [/NOAUTH/, "it requires a password", "Set SVC_SANDBOX_STORE to redis://:password@host:port"],
  // Redis would repeat the arguments of the command, such as a password.
  [
    /unknown command/i,
    "it does not know a command that a store needs",
    "Use Redis 6.2 or newer, or Valkey, and no Sentinel",
  ],
  [/Unknown RESP|RESP type/i, "it does not respond like Redis", "Check host and port"],
];

function problemOf(error: unknown): Problem {
  const { message, code = "" } = error as NodeJS.ErrnoException;
  const problem = problems.find(([text]) => text.test(message));
  if (problem !== undefined) return problem;
  if (!(error instanceof AggregateError) && code === "") {
    const isAway = /^(?:LOADING|MASTERDOWN|NOREPLICAS|BUSY|TRYAGAIN)/.test(message) ? "away" : undefined;
    const reported = message.split(". ", 1)[0]?.replace(/\.$/, "");
    return [/^/, `it reports "${reported}"`, "Check its URL and configuration (docs/store.md)", isAway];
  }
  const { found, hint } = describeConnectionError(error as NodeJS.ErrnoException);
  const isOfTls = /CERT|SSL|TLS|SIGN|VERIFY/.test(code);
  return [/^/, found, hint.replace(/\.$/, ""), isOfTls ? undefined : "away"];
}

export function unusableStore(shown: string, error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  const [, found, whatToDo, isAway] = problemOf(error);
  return isAway === "away"
    ? new SandboxError("store_unavailable", `Failed to reach the store ${shown}: ${found}. ${whatToDo}.`)
    : unfitStore(shown, `${found}. ${whatToDo}.`);
}

export function unfitStore(shown: string, why: string): SandboxError {
  return new SandboxError("store_unusable", `Failed to use the store ${shown}: ${why}`);
}

export function reasonOf(error: unknown): string {
  return error instanceof SandboxError ? error.message : problemOf(error)[1];
}

/** What a sandbox responds whose stored entry cannot be applied: nothing of it is deleted. */
export function brokenEntry(shown: string, what: string, error: unknown): SandboxError {
  const why = redactKeys((error as Error).message);
  return new SandboxError(
    "state_unreadable",
    `Failed to apply the entry ${what} in the store ${shown}: ${why}. It stays there. Whoever runs this server must start the version that wrote it, or remove the instance.`,
  );
}

export function isFullness(error: unknown): boolean {
  return error instanceof Error && /\bOOM\b/.test(error.message);
}

export function noRoomInRedis(): SandboxError {
  return new SandboxError(
    "memory_limit_reached",
    "Redis has no room: remove unused instances with DELETE /__sandbox/instances/{id}, or increase its maxmemory.",
  );
}
