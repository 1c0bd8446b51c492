import { decodePrintable } from "./decode-printable.js";
import { environments, isKeyCharacter, keyPrefixes } from "./key-text.js";

// Finds the keys in a text that a client or a command sent, to tell which keys they are. Upper and lower case count, as for the
// API. What a reader must not see is a wider notion: see `redact.ts`. No regular expression runs on these texts: V8 keeps the last
// text that one has matched, as `RegExp.input` (R35).

/** Everything that looks like a key, also percent-encoded, in order: a prefix and at least one character. */
export function findKeys(text: string): string[] {
  const plain = decodePrintable(text);
  const keys: string[] = [];
  let endOfLastKey = 0;
  for (const position of prefixesIn(plain)) {
    const isInsideKey = position.start < endOfLastKey;
    if (isInsideKey) continue;
    // The prefix of a key has its letters in this case, and may start with `legacy`.
    const row = keyPrefixes.find(({ prefix }) => plain.endsWith(prefix, position.end));
    if (row === undefined) continue;

    const end = endOfRun(plain, position.end, isKeyCharacter);
    const isPrefixAlone = end === position.end;
    if (isPrefixAlone) continue;
    keys.push(plain.slice(position.end - row.prefix.length, end));
    endOfLastKey = end;
  }
  return keys;
}

const stem = "svc";

/** How a prefix may be written, in lower case and without `legacy`: `svc_test_`, `svc%5flive_`. */
const spellings: readonly string[] = environments.flatMap((environment) => [
  `${stem}_${environment}_`,
  `${stem}%5f${environment}_`,
  `${stem}_${environment}%5f`,
  `${stem}%5f${environment}%5f`,
]);

/** Where the prefixes of keys are in a text, in order, in any case and with encoded underscores. Each starts at `svc`, also behind `legacy`. */
export function prefixesIn(text: string): { readonly start: number; readonly end: number }[] {
  // A prefix has two underscores; most texts have none.
  if (!text.includes("_") && !text.includes("%")) return [];

  // In lower case, with each character in its place: only İ would become two.
  const lower = text.replaceAll("İ", "?").toLowerCase();
  const positions: { start: number; end: number }[] = [];
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

/**
 * Where a prefix can start in Base64, which writes three bytes as a group of four letters: behind none, one or two bytes of a
 * group. Their bits are in the first letters of the group, which so are not of the prefix alone.
 */
const base64Starts = [
  { bytesBefore: 0, lettersBefore: 0 },
  { bytesBefore: 1, lettersBefore: 2 },
  { bytesBefore: 2, lettersBefore: 3 },
] as const;

/**
 * The three forms of a prefix in Base64, one for each start: the letters that depend only on the prefix. Any other is `?` here.
 *
 * @example
 * // bytes    SVC  _te  st_
 * // letters  U1ZD X3Rl c3Rf       from letter 0
 *
 * // bytes    ?SV  C_t  est  _
 * // letters  ??NW Q190 ZXN0 X?    from letter 2; the last letter would also have bits of the next byte
 */
export function base64Forms(prefix: string): string[] {
  const forms: string[] = [];
  for (const { bytesBefore, lettersBefore } of base64Starts) {
    const letters = btoa("\0".repeat(bytesBefore) + prefix);
    // A byte has 8 bits, a letter 6.
    const bits = (bytesBefore + prefix.length) * 8;
    const fullLetters = Math.floor(bits / 6);
    forms.push(letters.slice(lettersBefore, fullLetters));
  }
  return forms;
}

const formsOfPrefixes = keyPrefixes.flatMap(({ prefix }) => base64Forms(prefix));

/** Keys in Base64, also in its alphabet for URLs, alone or after other text such as `user:`; each once. */
export function findBase64Keys(text: string): string[] {
  const encoded = text.replaceAll("-", "+").replaceAll("_", "/");
  const keys = new Set<string>();
  for (const form of formsOfPrefixes) {
    let at = encoded.indexOf(form);
    while (at !== -1) {
      let start = at;
      while (isBase64(encoded.charCodeAt(start - 1))) start -= 1;
      const end = endOfRun(encoded, at, isBase64);
      for (const key of keysInRun(encoded.slice(start, end))) keys.add(key);
      at = encoded.indexOf(form, end);
    }
  }
  return [...keys];
}

/** The keys in a run of letters of Base64. Other letters may be before the first group of four: each start is tried. */
function keysInRun(letters: string): string[] {
  const keys: string[] = [];
  for (const firstGroup of [0, 1, 2, 3]) {
    let groups = letters.slice(firstGroup);
    // A single letter behind the last group of four is less than a byte, and `atob` refuses it.
    const hasSingleLetter = groups.length % 4 === 1;
    if (hasSingleLetter) groups = groups.slice(0, -1);
    keys.push(...findKeys(atob(groups)));
  }
  return keys;
}

function isBase64(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  const isDigit = code >= 48 && code <= 57;
  // 43 is +, 47 is /.
  return isLetter || isDigit || code === 43 || code === 47;
}

/** How shells and templates insert a variable, and how our variables start. */
const variableStarts: readonly string[] = ["${", "$(", "{{", "SVC_KEY_"];
/** How programs read a variable. */
const variableReads: readonly string[] = [".env.", "os.environ"];
/** The variable of the default key, and how languages print a variable without a value. */
const bareNames: readonly string[] = ["SVC_API_KEY", "undefined", "null", "None"];

/**
 * Whether a malformed key was meant as a key: it has a key after a scheme, a name or a quotation mark, or is a variable that
 * was never replaced. `keys`: the keys that were found in it.
 *
 * @example
 * isMeantAsKey("Bearer SVC_test_sbx0abc", ["SVC_test_sbx0abc"]); // true
 * isMeantAsKey("$SVC_API_KEY", []); // true
 * isMeantAsKey("not-a-key", []); // false
 */
export function isMeantAsKey(text: string, keys: readonly string[]): boolean {
  if (isVariable(text)) return true;
  const [key] = keys;
  if (key === undefined) return false;

  // A scheme, a name or a quotation mark is before the key; at most the other mark is behind it.
  const plain = decodePrintable(text);
  const start = plain.indexOf(key);
  const lengthBehind = plain.length - start - key.length;
  return start > 0 && lengthBehind <= 1;
}

function isVariable(text: string): boolean {
  // Without the quotation mark at its start, and the same one at its end.
  let bare = text;
  const mark = text.startsWith('"') || text.startsWith("'") ? text.slice(0, 1) : undefined;
  if (mark !== undefined) {
    bare = text.slice(1);
    if (bare.endsWith(mark)) bare = bare.slice(0, -1);
  }

  if (bareNames.includes(bare)) return true;
  if (variableStarts.some((start) => bare.startsWith(start))) return true;
  if (variableReads.some((read) => bare.includes(read))) return true;
  // `$NAME` of a shell, or `%NAME%` of Windows.
  if (bare.startsWith("$")) return isKeyCharacter(bare.charCodeAt(1));
  return bare.startsWith("%") && bare.endsWith("%") && bare.length > 2;
}
