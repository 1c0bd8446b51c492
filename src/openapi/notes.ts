import { escapeControls } from "../spec/redact.js";

// What a person should know about a document that is served.

/** How serious a note is, the most serious first. */
const ranks = ["broken", "differs", "unchecked"] as const;
type Rank = (typeof ranks)[number];

interface Group {
  readonly key: string;
  readonly rank: Rank;
  readonly many: string;
  /** The single note, by its subject. */
  readonly all: Map<string, string>;
}

export type Notes = ReturnType<typeof createNotes>;

const maxNamed = 5;

/** Collects notes after these, and groups equal ones about several operations. */
export function createNotes(earlier: readonly Group[] = []) {
  const groups = new Map<string, Group>(
    earlier.map((group) => [group.key, { ...group, all: new Map(group.all) }]),
  );
  const put = (rank: Rank, key: string, subject: string, one: string, many: string) => {
    const group: Group = groups.get(key) ?? { key, rank, many, all: new Map() };
    group.all.set(subject, one);
    groups.set(key, group);
  };
  return {
    /** Notes about an operation: `createReport does not check the header X`, and `3 operations do not check the header X: …`. */
    add(rank: Rank, subject: string, what: string, many: string, noun = "operations"): void {
      put(rank, `${rank} ${what} ${many}`, subject, `${subject} ${what}.`, `${noun} ${many}`);
    },
    groups: () => [...groups.values()],
    /** A note as a sentence. */
    say: (rank: Rank, sentence: string) => put(rank, sentence, sentence, sentence, ""),
    /** Each note, or group of notes, as a sentence; the most serious first. */
    list(): string[] {
      const sorted = [...groups.values()].sort(
        (one, other) => ranks.indexOf(one.rank) - ranks.indexOf(other.rank),
      );
      return sorted.map(({ many, all }) =>
        escapeControls(all.size === 1 ? ([...all.values()][0] as string) : grouped(all, many)),
      );
    },
  };
}

function grouped(all: ReadonlyMap<string, string>, many: string): string {
  const named = [...all.keys()].slice(0, maxNamed).join(", ");
  const rest = all.size - maxNamed;
  return `${all.size} ${many}: ${named}${rest > 0 ? ` and ${rest} more` : ""}.`;
}
