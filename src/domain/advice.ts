import words from "./advice.json" with { type: "json" };

/** Levels of advice: good to know; likely a defect; a defect, often of security. */
export const adviceLevels = ["note", "warning", "error"] as const;
export type AdviceLevel = (typeof adviceLevels)[number];

const levels = {
  "key-in-query": "error",
  "key-in-authorization": "error",
  "key-from-browser": "error",
  "real-key-suspected": "error",
  "same-key-after-401": "warning",
  "too-soon-after-429": "warning",
  "old-key-after-replacement-seen": "warning",
  "query-or-body-sent": "warning",
  "wrong-method-or-path": "warning",
  "retiring-key-in-use": "note",
  "legacy-key-in-use": "note",
} as const satisfies Readonly<Record<string, AdviceLevel>>;

/** The stable id of an advice. */
export type AdviceId = keyof typeof levels;

/** One kind of client behaviour that its developers should know of. */
export interface Advice {
  readonly id: AdviceId;
  readonly level: AdviceLevel;
  /** The rules or the section of the specification behind it. */
  readonly rule: string;
  /** Behaviour of the client, in words. */
  readonly meaning: string;
  readonly whatToDo: string;
}

/** All ids, those of the most serious advice first. */
export const adviceIds = Object.keys(levels) as readonly AdviceId[];

/** The row of an advice. */
export function adviceOf(id: AdviceId): Advice {
  return { id, level: levels[id], ...words[id] };
}

/** All advice, in the order of the ids; report and documentation follow it. Its words stand in `advice.json`. */
export const adviceTable: readonly Advice[] = adviceIds.map(adviceOf);
