import { SandboxError } from "../../rules/errors.js";
import type { KeyRecord } from "../../rules/key-state.js";
import {
  defaultOverlap,
  type KeyStateName,
  keyStateAt,
  maximumActiveKeys,
  maximumOverlap,
} from "../../rules/key-state.js";
import { type Environment, makeSecret } from "../../rules/keys/key-text.js";
import { type Organization, readAccess } from "../../rules/organization.js";
import { isInstant, type Overlap, scenarioDuration } from "../../rules/time.js";
import { throwIfProblems } from "../../rules/validation.js";
import type { Writable } from "../../rules/writable.js";
import { actions } from "../../scenario/actions.js";
import { freeRefIn, isRef, isReserved, refOfName, reservedKeyRefs } from "../../scenario/format/fields.js";
import type { ControlBody } from "../../scenario/format/inputs.js";
import { timeFrom } from "../../scenario/format/times.js";
import { deriveSecret, readSettings } from "../../scenario/keys.js";
import { didYouMean, listed, quote } from "../../schema/words.js";
import { requireDuration } from "../clock.js";
import type { KeyEntry, OrganizationEntry, Registry } from "../registry.js";
import type { SandboxState } from "../sandbox-state.js";
import { startUsage } from "../usage.js";
import { type KeyView, type OrganizationView, viewKey, viewOrganization } from "../views.js";
import { announceChange, type Initiator, requireAdministrator, timeOfChange } from "./change.js";

/** Creates an active key; returns its secret only this once (R34). A rejection (R29–R32) changes nothing. */
export function createKey(
  sandbox: SandboxState,
  input: ControlBody<"key_creation">,
  initiator: Initiator = {},
): { readonly key: KeyView; readonly secret: string } {
  requireAdministrator(initiator);
  const now = timeOfChange(sandbox, initiator);
  const { environment, expires } = input;
  const settings = readSettings(input.name, input);
  const { name, scopes, limits } = settings;

  // What may reject the new key.
  const isTwice = new Set(scopes).size < scopes.length;
  throwIfProblems("create a key", { scopes: isTwice ? "must not contain a scope twice" : undefined });
  const expiresAt = expires === undefined ? undefined : expiryOf(expires, now);
  const { organization } = sandbox.registry.organization(input.organization);
  requireAccess(organization, environment);
  requireScopes(sandbox, scopes);
  requireRoomForKey(sandbox, input, now);

  const ref = input.ref ?? freeKeyRef(sandbox.registry, refOfName(name));
  requireNewRef(sandbox, "ref", ref);
  const { secret, sha256 } = makeNewSecret(sandbox, ref, environment, initiator);

  const created: Writable<KeyRecord> = {
    ref,
    organization: input.organization,
    name,
    scopes: [...scopes],
    limits: { ...limits },
    environment,
    legacy: false,
    createdAt: now,
    sha256,
  };
  if (expiresAt !== undefined) created.expiresAt = expiresAt;
  const entry = sandbox.registry.addKey(created, startUsage(now));
  const key = viewKey(entry, sandbox, now);
  announceChange(sandbox, initiator, { type: "key.created", key });
  return { key, secret };
}

/** Replaces an active key (R37); the old one works until the overlap ends (R38–R40). An expiry is not inherited. */
export function rotateKey(
  sandbox: SandboxState,
  input: {
    readonly key: string;
    /** How long the old key continues to work: 0 to 7 days. Default: 60 minutes. */
    readonly overlap?: Overlap | undefined;
    /** The ref of the replacement. Default: the old ref with the next free number. */
    readonly as?: string | undefined;
  },
  initiator: Initiator = {},
): { readonly key: KeyView; readonly replacement: KeyView; readonly secret: string } {
  requireAdministrator(initiator);
  const now = timeOfChange(sandbox, initiator);
  const entry = requireKeyIn(sandbox, input.key, now, "rotate", ["active"]);
  const overlap = input.overlap === undefined ? defaultOverlap : requireDuration(input.overlap);
  if (overlap < 0 || overlap > maximumOverlap) {
    const message = `Invalid overlap of ${scenarioDuration(overlap)}: it must be between 0s and 7d.`;
    throw new SandboxError("overlap_out_of_range", message, { overlap, maximum: maximumOverlap });
  }
  const { ref, organization, environment } = entry.key;

  const newRef = input.as ?? freeKeyRef(sandbox.registry, ref);
  requireNewRef(sandbox, "as", newRef);
  const { secret, sha256 } = makeNewSecret(sandbox, newRef, environment, initiator);

  // The replacement has the settings of the old key (R37).
  const created = {
    ref: newRef,
    organization,
    name: entry.key.name,
    scopes: [...entry.key.scopes],
    limits: { ...entry.key.limits },
    environment,
    legacy: false,
    replaces: ref,
    createdAt: now,
    sha256,
  };
  const newEntry = sandbox.registry.addKey(created, startUsage(now));
  const replacement = viewKey(newEntry, sandbox, now);

  sandbox.registry.change(entry, { overlapEndsAt: now + overlap, replacedBy: newRef });
  sandbox.history.rotatedKeys.add(ref);
  const key = viewKey(entry, sandbox, now);
  announceChange(sandbox, initiator, { type: "key.rotated", key, replacement });
  return { key, replacement, secret };
}

/** Revokes a key: its next request gets 401 (R41). Throws `key_not_active` (R42) or `unknown_ref` without changes. */
export function revokeKey(
  sandbox: SandboxState,
  input: { readonly key: string },
  initiator: Initiator = {},
): { readonly key: KeyView } {
  requireAdministrator(initiator);
  const now = timeOfChange(sandbox, initiator);
  const entry = requireKeyIn(sandbox, input.key, now, "revoke", ["active", "retiring"]);
  sandbox.registry.change(entry, { revokedAt: now });
  const key = viewKey(entry, sandbox, now);
  announceChange(sandbox, initiator, { type: "key.revoked", key });
  return { key };
}

/** Sets when a key ends (R43). Throws `key_not_active` (R42), `unknown_ref` or `validation_failed` without changes. */
export function expireKey(
  sandbox: SandboxState,
  input: { readonly key: string; readonly expires: string },
  initiator: Initiator = {},
): { readonly key: KeyView } {
  requireAdministrator(initiator);
  const now = timeOfChange(sandbox, initiator);
  const entry = requireKeyIn(sandbox, input.key, now, "expire", ["active", "retiring"]);
  sandbox.registry.change(entry, { expiresAt: expiryOf(input.expires, now) });
  const key = viewKey(entry, sandbox, now);
  announceChange(sandbox, initiator, { type: "key.updated", key });
  return { key };
}

/** Changes an organization, effective with the next request. Throws `unknown_ref` without changes. */
export function updateOrganization(
  sandbox: SandboxState,
  input: ControlBody<"organization_update"> & { readonly ref: string },
  initiator: Initiator = {},
): { readonly organization: OrganizationView } {
  requireAdministrator(initiator);
  const entry = sandbox.registry.organization(input.ref);
  entry.organization = { ...entry.organization, ...readAccess(input, entry.organization) };
  const organization = viewOrganization(entry.organization, sandbox);
  announceChange(sandbox, initiator, { type: "organization.updated", organization });
  return { organization };
}

function expiryOf(expires: string, now: number): number {
  const expiresAt = timeFrom(now, expires);
  const problem = isInstant(expiresAt) ? undefined : "must be a time in the years 0000 to 9999";
  throwIfProblems("set the end of a key", { expires: problem });
  return expiresAt;
}

/** Throws unless a new key can have this ref, which the caller gives in the field `ref` or `as`. */
function requireNewRef({ registry }: SandboxState, field: "ref" | "as", ref: string): void {
  let problem: string | undefined;
  if (isReserved(ref)) {
    problem = `must not be ${listed(reservedKeyRefs, "or")}: stories use these words for no key`;
  } else if (!isRef(ref)) {
    problem = "must not be a name with a special meaning in JavaScript";
  }
  throwIfProblems("create a key", { [field]: problem });
  if (!registry.keys.has(ref)) return;
  const message = `A key with the ref ${quote(ref)} already exists.`;
  throw new SandboxError("name_taken", message, { ref });
}

/**
 * The secret of a new key, with the current prefix (R17), and its hash, of which alone the sandbox knows it later (R35). A key
 * that the scenario creates has the same secret each time. Throws `name_taken` if another key has this secret.
 */
function makeNewSecret(
  { registry, platform, seed }: SandboxState,
  ref: string,
  environment: Environment,
  initiator: Initiator,
): { readonly secret: string; readonly sha256: string } {
  const key = { ref, environment, legacy: false };
  const secret = initiator.isScripted ? deriveSecret(seed, key) : makeSecret(platform.random, key);
  const sha256 = platform.sha256(secret);
  const owner = registry.find(sha256)?.key.ref;
  if (owner === undefined) return { secret, sha256 };
  const message = `The seed generates a secret for ${quote(ref)} that ${quote(owner)} has pinned: choose another ref.`;
  throw new SandboxError("name_taken", message, { ref });
}

/** The key with a ref. Throws `unknown_ref`, or `key_not_active` if it is in none of the states in which the action is possible (R42). */
function requireKeyIn(
  sandbox: SandboxState,
  ref: string,
  now: number,
  verb: "rotate" | "revoke" | "expire",
  states: readonly KeyStateName[],
): KeyEntry {
  const entry = sandbox.registry.key(ref);
  const state = keyStateAt(entry.key, now);
  if (states.includes(state)) return entry;

  const { participle } = actions[verb];
  const why = `it is ${state}, and only a key that is ${listed(states, "or")} can be ${participle}`;
  const message = `Failed to ${verb} the key ${quote(ref)}: ${why}.`;
  throw new SandboxError("key_not_active", message, { ref, state });
}

function requireAccess({ ref, sandboxAccess, liveAccess }: Organization, environment: Environment): void {
  if (environment === "test" && !sandboxAccess) {
    const message = `Failed to create a test key: sandbox access is not turned on for ${ref}.`;
    throw new SandboxError("sandbox_access_off", message, { organization: ref });
  }
  if (environment === "live" && liveAccess !== "approved") {
    const message = `Failed to create a live key: the compliance application of ${ref} is not approved (live_access: ${liveAccess}).`;
    const details = { organization: ref, live_access: liveAccess };
    throw new SandboxError("live_access_not_approved", message, details);
  }
}

function requireScopes(sandbox: SandboxState, scopes: readonly string[]): void {
  if (scopes.length === 0) throw new SandboxError("scopes_required", "A key needs at least one scope.");
  const knownScopes = sandbox.assumptions.scopes;
  const unknown = scopes.find((scope) => !knownScopes.includes(scope));
  if (unknown === undefined) return;
  const message = `Unknown scope ${quote(unknown)}; known scopes: ${knownScopes.join(", ")}.${didYouMean(unknown, knownScopes)}`;
  throw new SandboxError("unknown_scope", message, { scope: unknown, known: [...knownScopes] });
}

/** Returns how many active keys an organization has in an environment, of which there is a maximum (R32). */
export function activeKeysIn(owner: OrganizationEntry, environment: Environment, now: number): number {
  let active = 0;
  for (const { key } of owner.keys) {
    if (key.environment === environment && keyStateAt(key, now) === "active") active += 1;
  }
  return active;
}

function requireRoomForKey(
  { registry }: SandboxState,
  { organization, environment }: Pick<KeyRecord, "organization" | "environment">,
  now: number,
): void {
  const active = activeKeysIn(registry.organization(organization), environment, now);
  if (active < maximumActiveKeys) return;
  const message = `${organization} already has ${active} active ${environment} keys; the maximum is ${maximumActiveKeys} (R32). Revoke one first.`;
  const details = { organization, environment, active, maximum: maximumActiveKeys };
  throw new SandboxError("key_limit_reached", message, details);
}

/**
 * A ref for a new key, which no key of the sandbox has: the given one, or with the next free number.
 *
 * `main-2` of `main`, `main-3` of `main-2` that replaces `main`, where the number counts replacements; but `bank-2024-2` of
 * `bank-2024` that replaces `old`, where it is a part of the name.
 */
function freeKeyRef(registry: Registry, ref: string): string {
  const isTaken = (candidate: string) => registry.keys.has(candidate);
  return freeRefIn(isTaken, withoutCount(registry, ref));
}

/** A ref without the number that counts replacements: `main` for `main-3`, which replaces `main-2`, which replaces `main`. */
function withoutCount({ keys }: Registry, ref: string): string {
  const withoutNumber = ref.replace(/-\d+$/, "");
  let earlier = keys.get(ref)?.key.replaces;
  while (earlier !== undefined) {
    if (earlier === withoutNumber) return earlier;
    earlier = keys.get(earlier)?.key.replaces;
  }
  return ref;
}
