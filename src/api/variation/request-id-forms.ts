/** A form in which a service writes the ids of its requests. */
interface RequestIdForm {
  /**
   * The id, made from the 24 hex digits of a request and its series: 0 until the first restart of the sandbox, then 1, and so on. The
   * last 8 digits count the requests of a series, so each form contains at least these.
   */
  readonly make: (digits: string, series: number) => string;
  /** What an id of this form is, in upper or lower case. */
  readonly pattern: RegExp;
}

/** The forms of request ids by the names of their variants. The first one is what `minimal` does. */
export const requestIdForms = {
  prefixed: { make: (digits) => `req_${digits}`, pattern: /^req_[0-9a-z]{6,}$/i },
  uuid: { make: uuidWith, pattern: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i },
  trace: { make: (digits) => digits + digits.slice(0, 8), pattern: /^[0-9a-f]{32}$/i },
  dated: { make: (digits) => `1-${digits.slice(16)}-${digits}`, pattern: /^1-[0-9a-f]{8}-[0-9a-f]{24}$/i },
  number: { make: numberWith, pattern: /^\d{1,17}$/ },
  opaque: { make: (digits) => `gw:7/${digits}+A==`, pattern: /^gw:/i },
  long: { make: (digits) => `${digits}.`.repeat(8), pattern: /^(?:[0-9a-f]{24}\.){8}$/i },
} satisfies Readonly<Record<string, RequestIdForm>>;

/** Whether a text has the form of a request id, in any profile. No ref of a key has one. */
export function isRequestId(text: string): boolean {
  return Object.values(requestIdForms).some(({ pattern }) => pattern.test(text));
}

/** A UUID that contains the digits of a request id. */
function uuidWith(digits: string): string {
  // A UUID has 32 digits: these 24, the first 6 of them again, and one each for its version (4) and its variant (a).
  const uuidDigits = digits + digits.slice(0, 6);
  const groups = [
    uuidDigits.slice(0, 8),
    uuidDigits.slice(8, 12),
    `4${uuidDigits.slice(12, 15)}`,
    `a${uuidDigits.slice(15, 18)}`,
    uuidDigits.slice(18, 30),
  ];
  return groups.join("-");
}

/** How many decimal digits the highest number has, `ffffffff`: 4294967295. */
const longestNumber = 10;

/**
 * The last 8 hex digits of a request id as a decimal number: `0000000a` is 10. A later series has the same numbers again, so its own
 * number stands in front, and zeros keep both apart: 20000000010 in series 2.
 */
function numberWith(digits: string, series: number): string {
  const number = String(Number.parseInt(digits.slice(16), 16));
  if (series === 0) return number;
  return `${series}${number.padStart(longestNumber, "0")}`;
}
