import { SandboxError } from "../rules/errors.js";
import type { KeyRecord } from "../rules/key-state.js";
import type { Organization } from "../rules/organization.js";
import { nearest, quote } from "../schema/words.js";
import type { RecordAdditions } from "./record-additions.js";
import type { Usage } from "./usage.js";

const maxShownRefs = 20;

const maxComparedRefs = 1000;

export interface OrganizationEntry {
  organization: Organization;
  readonly keys: KeyEntry[];
}

export interface KeyEntry {
  key: KeyRecord;
  readonly owner: OrganizationEntry;
  /** The usage when a request last counted; `usageAt` returns the usage now. */
  usage: Usage;
  /** The body of `/me` for the key up to the usage: the same until one of these is replaced. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly additions: RecordAdditions;
    readonly text: string;
    /** Its length in UTF-8. */
    readonly bytes: number;
  };
}

/** The organizations and keys of a sandbox. It contains hashes of keys, never keys (R35). */
export class Registry {
  readonly #organizations = new Map<string, OrganizationEntry>();
  readonly #keys = new Map<string, KeyEntry>();
  readonly #byHash = new Map<string, KeyEntry>();

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

  organization(ref: string): OrganizationEntry {
    const entry = this.#organizations.get(ref);
    if (entry === undefined) throw unknownRefError("organization", ref, this.#organizations);
    return entry;
  }

  key(ref: string): KeyEntry {
    const entry = this.#keys.get(ref);
    if (entry === undefined) throw unknownRefError("key", ref, this.#keys);
    return entry;
  }

  /** The key with this hash: `undefined` for a key that the sandbox does not have (R11). */
  find(sha256: string): KeyEntry | undefined {
    return this.#byHash.get(sha256);
  }

  /** Adds a key, whose hash no other key has, with the requests that it has already used. Its organization must exist. */
  addKey(key: KeyRecord, usage: Usage): KeyEntry {
    const owner = this.organization(key.organization);
    const entry: KeyEntry = { key, owner, usage };
    owner.keys.push(entry);
    this.#keys.set(key.ref, entry);
    this.#byHash.set(key.sha256, entry);
    return entry;
  }

  change(entry: KeyEntry, changes: Partial<KeyRecord>): void {
    entry.key = { ...entry.key, ...changes };
  }
}

/** The error for a ref that nothing has. A population may have 100,000 keys: the first ones are compared, and a few are listed. */
function unknownRefError(
  kind: "key" | "organization",
  ref: string,
  existing: ReadonlyMap<string, unknown>,
): SandboxError {
  const compared: string[] = [];
  for (const existingRef of existing.keys()) {
    if (compared.length === maxComparedRefs) break;
    compared.push(existingRef);
  }
  // JavaScript may pass anything; no ref is like an object.
  const near = typeof ref === "string" ? nearest(ref, compared) : undefined;

  const listedRefs = compared.slice(0, maxShownRefs);
  if (near !== undefined && !listedRefs.includes(near)) listedRefs.splice(-1, 1, near);
  let list = listedRefs.join(", ") || "none";
  if (existing.size > listedRefs.length) list += `, … ${existing.size - listedRefs.length} more`;
  const hint = near === undefined ? "" : ` Did you mean ${quote(near)}?`;
  const message = `Unknown ${kind} ${quote(ref)}: this scenario has ${list}.${hint}`;
  const details = { kind, ref, known: listedRefs, count: existing.size };
  return new SandboxError("unknown_ref", message, details);
}
