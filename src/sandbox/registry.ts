import { firstEndOf, type KeyRecord, keyStateAt, keyStateTable } from "../rules/api-key.js";
import { SandboxError } from "../rules/errors.js";
import type { Organization } from "../rules/organization.js";
import { didYouMean, quote } from "../rules/schema/words.js";
import type { Usage } from "./usage.js";

/** An organization's entry in the registry. A change replaces its record. */
export interface OrganizationEntry {
  organization: Organization;
  readonly keys: KeyEntry[];
  /** The keys that are not over, and some that `withoutOver` will remove; `undefined` until somebody looks. */
  unended?: Set<KeyEntry>;
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

/** Returns the keys that are not over at `now`, and removes the others from the set. */
export function withoutOver(keys: Set<KeyEntry>, now: number): KeyEntry[] {
  for (const entry of keys) {
    const state = keyStateAt(entry.key, now);
    if (keyStateTable[state].isOver) keys.delete(entry);
  }
  return [...keys];
}

export type UsedKey = Pick<KeyEntry, "key" | "usage">;

/** The organizations and keys of a sandbox. It contains hashes of keys, never keys (R35). */
export class Registry {
  readonly #organizations = new Map<string, OrganizationEntry>();
  readonly #keys = new Map<string, KeyEntry>();
  readonly #byHash = new Map<string, KeyEntry>();
  /** The keys whose end is known, and some that `withoutOver` will remove. */
  readonly withKnownEnd = new Set<KeyEntry>();
  /** The number to try next after a ref, by the ref without its number: the lower ones are taken for good. */
  readonly nextSuffixes = new Map<string, number>();

  constructor(organizations: Iterable<Organization>, keys: Iterable<UsedKey>) {
    for (const organization of organizations) {
      this.#organizations.set(organization.ref, { organization, keys: [] });
    }
    for (const key of keys) this.addKey(key);
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
    return this.#organizations.get(ref) ?? unknownRef("organization", ref, this.#organizations);
  }

  /** Throws `unknown_ref`. */
  key(ref: string): KeyEntry {
    return this.#keys.get(ref) ?? unknownRef("key", ref, this.#keys);
  }

  find(sha256: string): KeyEntry | undefined {
    return this.#byHash.get(sha256);
  }

  /** Adds a key, whose organization must exist. */
  addKey({ key, usage }: UsedKey): KeyEntry {
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

  change(entry: KeyEntry, changes: Partial<KeyRecord>): void {
    entry.key = { ...entry.key, ...changes };
    this.#track(entry);
  }

  #track(entry: KeyEntry): void {
    entry.owner.unended?.add(entry);
    if (firstEndOf(entry.key) !== undefined) this.withKnownEnd.add(entry);
  }
}

const maxShownRefs = 20;

function unknownRef(kind: "key" | "organization", ref: string, known: ReadonlyMap<string, unknown>): never {
  const refs = [...known.keys()];
  const shown = refs.slice(0, maxShownRefs);
  if (refs.length > shown.length) shown.push(`… ${refs.length - shown.length} more`);
  const list = shown.length === 0 ? "none" : shown.join(", ");
  // HTTP and JavaScript may pass anything.
  const hint = didYouMean(String(ref), refs);
  const message = `Unknown ${kind} ${quote(ref)}: this scenario has ${list}.${hint}`;
  throw new SandboxError("unknown_ref", message, { kind, ref, known: refs });
}
