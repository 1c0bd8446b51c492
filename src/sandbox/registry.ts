import type { KeyRecord } from "../domain/key.js";
import type { Organization } from "../domain/organization.js";
import { SandboxError } from "../domain/sandbox-error.js";
import { didYouMean } from "../scenario/nearest.js";
import type { KeyConduct } from "./conduct-memory.js";
import type { Usage } from "./usage.js";

/** An organization's place in the registry; the record in it is replaced when the organization changes. */
export interface OrganizationEntry {
  organization: Organization;
}

/** A key's place in the registry; the record in it is replaced when the key changes. */
export interface KeyEntry {
  key: KeyRecord;
  readonly holder: OrganizationEntry;
  readonly usage: Usage;
  /** What its clients have learned; left out for as long as that is nothing. */
  conduct?: KeyConduct;
  /** What an endpoint may keep of its answer between two requests; valid for exactly these two records. */
  prepared?: {
    readonly key: KeyRecord;
    readonly organization: Organization;
    readonly text: string;
    readonly bytes: number;
  };
}

/** The organizations and keys of one world. Holds hashes of keys, never keys (R35). */
export interface Registry {
  readonly organizations: ReadonlyMap<string, OrganizationEntry>;
  readonly keys: ReadonlyMap<string, KeyEntry>;
  /** The key with this SHA-256, if the world has it. */
  readonly find: (sha256: string) => KeyEntry | undefined;
  /** Throws `unknown_ref`, with the refs there are. */
  readonly key: (ref: string) => KeyEntry;
  /** Throws `unknown_ref`, with the refs there are. */
  readonly organization: (ref: string) => OrganizationEntry;
  readonly addOrganization: (organization: Organization) => void;
  /** Its organization must be there. */
  readonly addKey: (key: KeyRecord, usage: Usage) => void;
}

/** Makes an empty registry. */
export function createRegistry(): Registry {
  const organizations = new Map<string, OrganizationEntry>();
  const keys = new Map<string, KeyEntry>();
  const bySha256 = new Map<string, KeyEntry>();

  const organization = (ref: string) =>
    organizations.get(ref) ?? unknownRef("organization", ref, organizations);
  return {
    organizations,
    keys,
    find: (sha256) => bySha256.get(sha256),
    key: (ref) => keys.get(ref) ?? unknownRef("key", ref, keys),
    organization,
    addOrganization(record) {
      organizations.set(record.ref, { organization: record });
    },
    addKey(key, usage) {
      const entry: KeyEntry = { key, holder: organization(key.organization), usage };
      keys.set(key.ref, entry);
      bySha256.set(key.sha256, entry);
    },
  };
}

/** Refuses a ref that this world does not have, with the nearest one it has. */
export function unknownRef(
  kind: "key" | "organization",
  ref: string,
  known: ReadonlyMap<string, unknown>,
): never {
  const refs = [...known.keys()];
  const shown = refs.length > 20 ? [...refs.slice(0, 20), `… ${refs.length - 20} more`] : refs;
  throw new SandboxError(
    "unknown_ref",
    `Failed to find the ${kind} ${JSON.stringify(ref)}: this scenario has ${shown.join(", ") || "none"}.${
      // Over HTTP and from JavaScript anything may come in.
      didYouMean(String(ref), refs)
    }`,
    { kind, ref, known: refs },
  );
}
