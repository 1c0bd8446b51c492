import { SandboxError } from "../../domain/errors.js";
import { isMapping, parsedJson } from "../../domain/json.js";
import { listed } from "../../schema/words.js";
import type { RedisLink, Reply } from "./link.js";
import { unfitStore } from "./problems.js";

/** The first version with XTRIM MINID, which a store needs. */
const oldest = "6.2";

/**
 * Checks that a Redis is new enough and evicts no keys; resolves to notes for the operator.
 *
 * Throws `store_unusable`. Skips what the user has no permission to read.
 */
export async function checkRedis({ command }: RedisLink, shown: string): Promise<readonly string[]> {
  const info = await command(["INFO"]).catch((error) => {
    if (/^(?:NOPERM|ERR unknown)/.test((error as Error).message)) return "";
    throw error;
  });
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(String(info))?.[1];
  if (read("redis_mode") === "sentinel") {
    throw unfitStore(shown, "it is a Sentinel, which stores nothing. Name the Redis that it watches.");
  }
  const version = read("redis_version");
  if (version?.localeCompare(oldest, "en", { numeric: true }) === -1) {
    throw unfitStore(
      shown,
      `it is a Redis ${version}, which is too old. Use Redis ${oldest} or newer, or Valkey.`,
    );
  }
  const [policy = "noeviction", most = "0"] = [read("maxmemory_policy"), read("maxmemory")];
  if (policy.startsWith("allkeys-") && most !== "0") {
    throw unfitStore(
      shown,
      `its maxmemory-policy ${policy} evicts keys when it is full. Set maxmemory-policy to noeviction.`,
    );
  }
  if (read("aof_enabled") !== "0") return [];
  const lost = "its data may be lost when it restarts. See docs/store.md.";
  return [`The store ${shown} has no append-only file: ${lost}`];
}

/** Finds keys with a prefix among about the first 100,000; finds none without permission to scan. */
export async function keysUnder({ command }: RedisLink, prefix: string): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor = "0";
  for (let round = 0; round < 100; round += 1) {
    const reply: Reply = await command(["SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", "1000"]).catch(
      (error) => {
        if (/^NOPERM/.test((error as Error).message)) return ["0", []];
        throw error;
      },
    );
    const [next, keys] = reply as [string, readonly string[]];
    found.push(...keys);
    cursor = next;
    if (cursor === "0") break;
  }
  return found;
}

/** The error for a log with another founding. A founding is a flat JSON object; the message names different members. */
export function otherFounding(shown: string, theirs: string, ours: string): SandboxError {
  const { begun, own, names } = differencesOf(theirs, ours);
  const show = (members: Readonly<Record<string, unknown>>, name: string) =>
    `${name} ${name in members ? JSON.stringify(members[name]) : "(none)"}`;
  const [before, now] = [begun, own].map((members) =>
    listed(
      names.map((name) => show(members, name)),
      "and",
    ),
  );
  return new SandboxError(
    "store_mismatch",
    `The sandbox in the store ${shown} was started with ${before}, and this one has ${now}. ${canMigrate(theirs, ours) ? "Add --migrate to continue it, start" : "Start"} this one with the same, or give it its own keys with --store-prefix.`,
    { store: begun, own },
  );
}

/** The error for an import into a store that has a sandbox. */
export function sandboxExists(shown: string): SandboxError {
  return new SandboxError(
    "sandbox_exists",
    `The store ${shown} already contains a sandbox, and --import does not replace it. Start without --import, or give this one its own keys with --store-prefix.`,
  );
}

/** Whether a replica may migrate a log with another founding: an earlier version, or another scenario. */
export function canMigrate(theirs: string, ours: string): boolean {
  const { begun, own, names } = differencesOf(theirs, ours);
  const [before, now] = [begun.version, own.version].map(String) as [string, string];
  const isLater = now.localeCompare(before, "en", { numeric: true }) >= 0;
  const migrated = ["version", "scenario", "content of the scenario"];
  return (
    isLater &&
    Number.parseInt(before, 10) === Number.parseInt(now, 10) &&
    names.every((name) => migrated.includes(name))
  );
}

function differencesOf(theirs: string, ours: string) {
  const [begun, own] = [membersOf(theirs), membersOf(ours)];
  const names = [...new Set([...Object.keys(own), ...Object.keys(begun)])].filter(
    (name) => JSON.stringify(begun[name]) !== JSON.stringify(own[name]),
  );
  return { begun, own, names };
}

export function membersOf(founding: string): Readonly<Record<string, unknown>> {
  const value = parsedJson(founding);
  return isMapping(value) ? value : { founding };
}
