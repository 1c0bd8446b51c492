import { escapeControls } from "../spec/redact.js";
import { keptIn } from "./once.js";

// What a person should know about a document that is served.

/** How serious a note is, the most serious first. */
const ranks = ["broken", "differs", "unchecked"] as const;

interface Group {
  readonly rank: (typeof ranks)[number];
  readonly what: string;
  readonly noun: string;
  /** What it is about; one without a name for a sentence. */
  readonly subjects: Set<string>;
}

export type Notes = ReturnType<typeof createNotes>;

const mostNamed = 5;

/** Collects notes after these, and groups equal ones about several operations. */
export function createNotes(earlier: readonly Group[] = []) {
  const groups = new Map<string, Group>();
  /** Notes about an operation: `createReport does not check the header X`, and `Each of 3 operations does not check …`. */
  const add = (rank: Group["rank"], subject: string, what: string, noun = "operations"): void => {
    const key = `${rank} ${noun} ${what}`;
    const { subjects } = keptIn(groups, key, () => ({ rank, what, noun, subjects: new Set<string>() }));
    subjects.add(subject);
  };
  for (const { rank, what, noun, subjects } of earlier)
    for (const one of subjects) add(rank, one, what, noun);
  return {
    add,
    groups: () => [...groups.values()],
    /** A note as a sentence. */
    say: (rank: Group["rank"], sentence: string) => add(rank, "", sentence),
    /** Each note, or group of notes, as a sentence; the most serious first. */
    list: (): string[] =>
      [...groups.values()]
        .sort((one, other) => ranks.indexOf(one.rank) - ranks.indexOf(other.rank))
        .map((group) => escapeControls(sentenceOf(group))),
  };
}

function sentenceOf({ subjects, what, noun }: Group): string {
  const [first, ...others] = subjects;
  if (first === "") return what;
  if (others.length === 0) return `${first} ${what}.`;
  const named = [...subjects].slice(0, mostNamed).join(", ");
  const rest = subjects.size - mostNamed;
  return `Each of ${subjects.size} ${noun} ${what}: ${named}${rest > 0 ? ` and ${rest} more` : ""}.`;
}
