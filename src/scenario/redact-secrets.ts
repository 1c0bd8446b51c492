import { redactPlainKeys } from "../rules/redact.js";

// A secret is known by its prefix, by its look, or by the name in front of it. No problem shows one (R46).

/** What follows the name of a secret, up to a double quote or the end of the line: `secret: hunter2`, `"api_key":"hunter2"`. */
const namedSecret = /((?:secret|token|api[_-]?key)s?[\\"']*\s*:[\\\s"']*)[^"\n]+/gi;

/** A text without possible secrets: keys with a prefix, what follows the name of a secret, long runs that are no word and no number. */
export function redactSecrets(text: string): string {
  const withoutNamed = redactPlainKeys(text).replace(namedSecret, "$1…");
  return withoutNamed.replace(/[A-Za-z0-9]{16,}/g, (run) => {
    return isWordOrNumber(run) ? run : `${run.slice(0, 4)}…`;
  });
}

/**
 * Whether a run of letters and digits is a number, a word or a name:
 *
 *   1772442000000, attestations, listConsentsByFarmerId, corebankingsystem2     it is
 *   4eC39HqLyjWDarjt                                                            it may be a secret
 */
function isWordOrNumber(run: string): boolean {
  if (/^\d{1,20}$/.test(run)) return true;
  // Letters alone are a word, if they are few or all of them capitals.
  if (/^(?:[A-Za-z]{1,19}|[A-Z]+)$/.test(run)) return true;
  // A name is words of two letters or more, each with a capital but the first, and then a small number.
  return /^[A-Za-z][a-z]+(?:[A-Z][a-z]+)*\d{0,3}$/.test(run);
}
