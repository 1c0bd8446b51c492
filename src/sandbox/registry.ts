import { SandboxError } from "../rules/errors.js";
import type { KeyRecord } from "../rules/key-record.js";
import { keyStateAt, keyStateTable } from "../rules/key-state.js";
import type { Organization } from "../rules/organization.js";
import { freeRefIn } from "../scenario/format/refs.js";
import { didYouMean, quote } from "../schema/words.js";
import type { RecordAdditions } from "./record-additions.js";
import type { Usage } from "./usage.js";

/** How many refs the message about an unknown one lists. */
const maxShownRefs = 20;

/** An organization's entry in the registry. A change replaces its record. */
export interface OrganizationEntry {
  organization: Organization;
  readonly keys: KeyEntry[];
  /** For `workingKeysOf` alone: the keys that may still work. `undefined` before its first call. */
  workingKeys?: Set<KeyEntry>;
}

/** A key's entry in the registry. A change replaces its record. */
export interface KeyEntry {
  key: KeyRecord;
  readonly owner: OrganizationEntry;
  /** The usage when a request last counted; `usageAt` returns the usage now. */
  usage: Usage;
  /** What the endpoint `/me` has prepared of its responses: it is part of the entry, because that is found faster than by the entry. */
  prepared?: PreparedResponse;
}

/** The start of the body of `/me`, which is the same until one of these is replaced. */
interface PreparedResponse {
  readonly key: KeyRecord;
  readonly organization: Organization;
  readonly additions: RecordAdditions;
  readonly text: string;
  /** Its length in UTF-8. */
  readonly bytes: number;
}

/** The organizations and keys of a sandbox. It contains hashes of keys, never keys (R35). */
export class Registry {
  readonly #organizations = new Map<string, OrganizationEntry>();
  readonly #keys = new Map<string, KeyEntry>();
  /** By the SHA-256 of the key. */
  readonly #byHash = new Map<string, KeyEntry>();
  /** The keys with a known end, and ended ones that `keysThatEnd` has not removed yet. */
  readonly #withKnownEnd = new Set<KeyEntry>();
  /** The number at the end of the last free ref, such as `main-4`, by the ref without it (`main`). Lower ones stay taken. */
  readonly #latestNumbers = new Map<string, number>();

  constructor(organizations: Iterable<Organization>) {
    for (const organization of organizations) {
      this.#organizations.set(organization.ref, { organization, keys: [] });
    }
  }

  get organizations(): ReadonlyMap<string, OrganizationEntry> {
    return this.#organizations;
  }

  /** The keys by ref, in the scenario's order, then in order of creation. */
  get keys(): ReadonlyMap<string, KeyEntry> {
    return this.#keys;
  }

  /** Throws `unknown_ref`. */
  organization(ref: string): OrganizationEntry {
    const entry = this.#organizations.get(ref);
    if (entry === undefined) throw unknownRefError("organization", ref, this.#organizations);
    return entry;
  }

  /** Throws `unknown_ref`. */
  key(ref: string): KeyEntry {
    const entry = this.#keys.get(ref);
    if (entry === undefined) throw unknownRefError("key", ref, this.#keys);
    return entry;
  }

  /** The key with this hash: `undefined` for a key that the sandbox does not have (R11). */
  find(sha256: string): KeyEntry | undefined {
    return this.#byHash.get(sha256);
  }

  /** Adds a key with the requests that it has already used. Its organization must exist. */
  addKey(key: KeyRecord, usage: Usage): KeyEntry {
    const owner = this.organization(key.organization);
    const entry: KeyEntry = { key, owner, usage };
    owner.keys.push(entry);
    this.#track(entry);
    this.#keys.set(key.ref, entry);
    // A pinned hash may be of a secret of the scenario: `find` returns the first key.
    if (!this.#byHash.has(key.sha256)) this.#byHash.set(key.sha256, entry);
    return entry;
  }

  /** A ref that no key has: this one, or with the next free number. `main` is replaced by `main-2`, and that by `main-3`. */
  freeKeyRef(ref: string): string {
    const isTaken = (candidate: string) => this.#keys.has(candidate);
    return freeRefIn(isTaken, this.#numberedRef(ref), this.#latestNumbers);
  }

  /**
   * The ref that the number of a free ref follows. For `main-3`, which replaces `main-2`, which replaces `main`, it is `main`. A
   * number that does not count replacements is a part of the name: for `bank-2024`, which replaces `old`, it is `bank-2024`.
   */
  #numberedRef(ref: string): string {
    const withoutNumber = ref.replace(/-\d+$/, "");
    let earlier = this.#keys.get(ref)?.key.replaces;
    while (earlier !== undefined) {
      if (earlier === withoutNumber) return earlier;
      earlier = this.#keys.get(earlier)?.key.replaces;
    }
    return ref;
  }

  /** The keys that will end after `now`, which never goes back. */
  keysThatEnd(now: number): ReadonlySet<KeyEntry> {
    removeEnded(this.#withKnownEnd, now);
    return this.#withKnownEnd;
  }

  /** Lists the keys in this order. */
  sort(refs: readonly string[]): void {
    for (const ref of refs) {
      const entry = this.key(ref);
      this.#keys.delete(ref);
      this.#keys.set(ref, entry);
    }
  }

  /** Replaces a key's record by one with these changes. */
  change(entry: KeyEntry, changes: Partial<KeyRecord>): void {
    entry.key = { ...entry.key, ...changes };
    this.#track(entry);
  }

  /** Puts a key whose record is new into the sets that it may belong to. */
  #track(entry: KeyEntry): void {
    entry.owner.workingKeys?.add(entry);
    const { revokedAt, expiresAt, overlapEndsAt } = entry.key;
    const knownEnd = revokedAt ?? expiresAt ?? overlapEndsAt;
    if (knownEnd !== undefined) this.#withKnownEnd.add(entry);
  }
}

/** The keys of an organization that work at `now`, which never goes back. A long list of ended keys is read only once. */
export function workingKeysOf(owner: OrganizationEntry, now: number): ReadonlySet<KeyEntry> {
  // Made at the first call, because most organizations never get another key.
  owner.workingKeys ??= new Set(owner.keys);
  removeEnded(owner.workingKeys, now);
  return owner.workingKeys;
}

/** Removes the keys from the set that are over at `now`. */
function removeEnded(keys: Set<KeyEntry>, now: number): void {
  for (const entry of keys) {
    const state = keyStateAt(entry.key, now);
    if (keyStateTable[state].isOver) keys.delete(entry);
  }
}

function unknownRefError(
  kind: "key" | "organization",
  ref: string,
  known: ReadonlyMap<string, unknown>,
): SandboxError {
  const refs = [...known.keys()];
  const listedRefs = refs.slice(0, maxShownRefs);
  if (refs.length > listedRefs.length) listedRefs.push(`… ${refs.length - listedRefs.length} more`);
  const list = listedRefs.length === 0 ? "none" : listedRefs.join(", ");
  // JavaScript may pass anything; no ref is like an object.
  const hint = typeof ref === "string" ? didYouMean(ref, refs) : "";
  const message = `Unknown ${kind} ${quote(ref)}: this scenario has ${list}.${hint}`;
  return new SandboxError("unknown_ref", message, { kind, ref, known: refs });
}
