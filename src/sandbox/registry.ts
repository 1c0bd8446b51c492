import { earliestEnd, type KeyRecord, keyStateAt, keyStateTable } from "../rules/api-key.js";
import { SandboxError } from "../rules/errors.js";
import type { Organization } from "../rules/organization.js";
import { didYouMean, quote } from "../schema/words.js";
import type { Usage } from "./usage.js";

/** How many refs the message about an unknown one lists. */
const maxShownRefs = 20;

/** An organization's entry in the registry. A change replaces its record. */
export interface OrganizationEntry {
  organization: Organization;
  readonly keys: KeyEntry[];
  /**
   * The keys that still worked when `removeEnded` last read them, and those that were added or changed since: so a long list of
   * ended keys is not read again and again. `undefined` until somebody counts active keys.
   */
  workingKeys?: Set<KeyEntry>;
}

/** A key's entry in the registry. A change replaces its record. */
export interface KeyEntry {
  key: KeyRecord;
  readonly owner: OrganizationEntry;
  /** The usage when a request last counted; `usageAt` returns the usage now. */
  usage: Usage;
  replacement?: KeyEntry;
  /** Whether a client got a 200 with it, if advice depends on that. */
  hasWorked?: boolean;
  /** The prepared part of a response, valid for exactly these two records. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly text: string;
    readonly bytes: number;
  };
}

/** The organizations and keys of a sandbox. It contains hashes of keys, never keys (R35). */
export class Registry {
  readonly #organizations = new Map<string, OrganizationEntry>();
  readonly #keys = new Map<string, KeyEntry>();
  /** By the SHA-256 of the key. */
  readonly #byHash = new Map<string, KeyEntry>();
  /** The keys whose end is known, until `removeEnded` removes them because it has come. */
  readonly withKnownEnd = new Set<KeyEntry>();
  /** Which number to try next for a new ref such as `main-4`, by the ref without it (`main`): the lower ones are taken for good. */
  readonly nextSuffixes = new Map<string, number>();

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
    if (earliestEnd(entry.key) !== undefined) this.withKnownEnd.add(entry);
  }
}

/** Removes the keys from the set that are over at `now`. */
export function removeEnded(keys: Set<KeyEntry>, now: number): void {
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
