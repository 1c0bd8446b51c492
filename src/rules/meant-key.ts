import { decodePrintable } from "./decode-printable.js";
import { isKeyCharacter } from "./key-text.js";

/** How shells and templates insert a variable, and how our variables start. */
const variableStarts: readonly string[] = ["${", "$(", "{{", "SVC_KEY_"];
/** How programs read a variable. */
const variableReads: readonly string[] = [".env.", "os.environ"];
/** The variable of the default key, and how languages print a variable without a value. */
const bareNames: readonly string[] = ["SVC_API_KEY", "undefined", "null", "None"];

const quotationMarks: readonly string[] = ['"', "'"];

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

/** Whether a text is a variable that nothing has replaced. */
function isVariable(text: string): boolean {
  // Not a regular expression: V8 keeps the last string it was run on, and this one may be a key (R35).
  const bare = withoutQuotationMarks(text);
  if (bareNames.includes(bare)) return true;
  if (variableStarts.some((start) => bare.startsWith(start))) return true;
  if (variableReads.some((read) => bare.includes(read))) return true;
  // `$NAME` of a shell, or `%NAME%` of Windows.
  if (bare.startsWith("$")) return isKeyCharacter(bare.charCodeAt(1));
  return bare.startsWith("%") && bare.endsWith("%") && bare.length > 2;
}

/** A text without the quotation mark at its start, nor the same one at its end. */
function withoutQuotationMarks(text: string): string {
  for (const mark of quotationMarks) {
    if (!text.startsWith(mark)) continue;
    const behindMark = text.slice(1);
    return behindMark.endsWith(mark) ? behindMark.slice(0, -1) : behindMark;
  }
  return text;
}
