import { environments } from "./key-text.js";

// Where a text may have a key: the keys that are identified (find-keys.ts) and those that are hidden (redact.ts) start here. No
// regular expression runs on these texts: V8 keeps the last text that one has matched, as `RegExp.input` (R35).

/** Where the prefix of a key is in a text. It starts at `svc`, also if `legacy` is before it. */
interface PrefixPosition {
  readonly start: number;
  readonly end: number;
}

const stem = "svc";

/** How a prefix may be written, in lower case and without `legacy`: `svc_test_`, `svc%5flive_`. */
const spellings: readonly string[] = environments.flatMap((environment) => [
  `${stem}_${environment}_`,
  `${stem}%5f${environment}_`,
  `${stem}_${environment}%5f`,
  `${stem}%5f${environment}%5f`,
]);

/** The prefixes of keys in a text, in order, in any case and with encoded underscores. */
export function prefixesIn(text: string): PrefixPosition[] {
  // A prefix has two underscores; most texts have none.
  if (!text.includes("_") && !text.includes("%")) return [];

  // In lower case, with each character in its place: only İ would become two.
  const lower = text.replaceAll("İ", "?").toLowerCase();
  const positions: PrefixPosition[] = [];
  for (let start = lower.indexOf(stem); start !== -1; start = lower.indexOf(stem, start + 1)) {
    const spelling = spellings.find((prefix) => lower.startsWith(prefix, start));
    if (spelling !== undefined) positions.push({ start, end: start + spelling.length });
  }
  return positions;
}

/** The end of the characters of one kind that start at a position; the position itself if there are none. */
export function endOfRun(text: string, start: number, isOfKind: (code: number) => boolean): number {
  let end = start;
  while (isOfKind(text.charCodeAt(end))) end += 1;
  return end;
}
