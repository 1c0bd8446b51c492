import { unicodePattern } from "../schema/words.js";
import { copyText } from "./copy-text.js";
import { redactPlainKeys } from "./redact.js";

/** A longer path is cut. */
const longestPath = 500;
/** What a cut path ends with: a separate segment, so that it is never the path of an endpoint. */
const cutEnd = "/…";

/** A key in Base64 or hex has more letters and digits in a row than these, so a longer word may be one. */
const longestWord = 20;

/** A path that is safe to show (R46): `/v1/%53VC_test_1/SVC_test_2` becomes `/v1/…/SVC_test_…`. */
export function redactPath(path: string): string {
  const isLong = path.length > longestPath + cutEnd.length;
  const start = isLong ? path.slice(0, longestPath) : path;
  const safe = start.split("/").map(shownSegment).join("/");
  return copyText(isLong ? safe + cutEnd : safe);
}

/** A segment without keys; `…` for one in which an encoded key may be. */
function shownSegment(segment: string): string {
  const redacted = redactPlainKeys(segment);
  return hasOnlyWords(redacted) ? redacted : "…";
}

/** Whether a text has only words of letters and digits, separated by `-`, `.`, `_` and `…`. */
function hasOnlyWords(text: string): boolean {
  let wordLength = 0;
  for (const character of text) {
    if ("-._…".includes(character)) {
      wordLength = 0;
      continue;
    }
    if (wordLength === longestWord || !isInWord(character)) return false;
    wordLength += 1;
  }
  return true;
}

const inWord = unicodePattern("[\\p{L}\\p{M}\\p{N}]", "u");

function isInWord(character: string): boolean {
  return /[\dA-Za-z]/.test(character) || inWord().test(character);
}
