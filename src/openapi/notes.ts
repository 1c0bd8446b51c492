import { escapeControls } from "../rules/redact.js";
import { quote } from "../rules/schema/words.js";
import type { Mismatch } from "./keywords.js";

// What a person should know about a document that is served.

/** How serious a note is, the most serious first. */
const ranks = ["broken", "differs", "unchecked"] as const;
type Rank = (typeof ranks)[number];

/** The notes of one kind. */
interface Group {
  readonly key: string;
  readonly rank: Rank;
  readonly many: string;
  /** The single note and its reason, by its subject. */
  readonly all: Map<string, { readonly note: string; readonly reason: string | undefined }>;
}

export type Notes = ReturnType<typeof createNotes>;

const maxNamed = 5;
const longestReason = 80;

/** Collects notes after these, and lists the notes of one kind as one sentence. */
export function createNotes(earlier: readonly Group[] = []) {
  const groups = new Map<string, Group>(
    earlier.map((group) => [group.key, { ...group, all: new Map(group.all) }]),
  );
  const put = (rank: Rank, many: string, subject: string, note: string, reason?: string) => {
    const key = `${rank} ${many}`;
    const group: Group = groups.get(key) ?? { key, rank, many, all: new Map() };
    group.all.set(subject, { note, reason: reason?.slice(0, longestReason) });
    groups.set(key, group);
  };
  return {
    /**
     * A note about a part of the document, which its kind shares with others: `readReport is not served`,
     * `2 operations are not served`, and a reason that may differ.
     */
    add: (rank: Rank, part: string, one: string, many: string, reason?: string) =>
      put(rank, many, part, `${part} ${one}`, reason),
    groups: () => [...groups.values()],
    /** A note as a sentence. */
    say: (rank: Rank, sentence: string) => put(rank, sentence, sentence, sentence.replace(/\.$/, "")),
    /** Each kind of notes as a sentence; the most serious first. */
    list(): string[] {
      const sorted = [...groups.values()].sort(
        (one, other) => ranks.indexOf(one.rank) - ranks.indexOf(other.rank),
      );
      return sorted.map((group) => escapeControls(sentenceOf(group)));
    },
  };
}

function sentenceOf({ many, all }: Group): string {
  const entries = [...all];
  const [[, { note, reason }]] = entries as [[string, { note: string; reason: string | undefined }]];
  if (entries.length === 1) return reason === undefined ? `${note}.` : `${note}: ${reason}.`;
  const named = entries
    .slice(0, maxNamed)
    .map(([subject, one]) => (one.reason === undefined ? subject : `${subject} (${one.reason})`));
  const rest = entries.length - maxNamed;
  return `${entries.length} ${many}: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

/** A mismatch in a clause that names a missing member. */
export const mismatchText = ({ message, missing }: Mismatch) =>
  missing === undefined ? message : `${quote(missing.slice(0, 60))} is missing`;
