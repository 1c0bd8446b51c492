import { redactPlainKeys } from "../rules/keys/redact.js";

// A secret is known by its prefix, by its look, or by the name in front of it. No problem shows one (R46).

/** What follows the name of a secret, up to a double quote or the end of the line: `secret: hunter2`, `"api_key":"hunter2"`. */
const namedSecret = /((?:secret|token|api[_-]?key)s?[\\"']*\s*:[\\\s"']*)[^"\n]+/gi;

/** A text without possible secrets: keys with a prefix, what follows the name of a secret, long runs that are no word and no number. */
export function redactSecrets(text: string): string {
  const withoutNamed = redactPlainKeys(text).replace(namedSecret, "$1…");
  return withoutNamed.replace(/[A-Za-z0-9]{16,}/g, (run) => {
    const isHarmless = harmlessRuns.some((pattern) => pattern.test(run));
    return isHarmless ? run : `${run.slice(0, 4)}…`;
  });
}

/** What a run of letters and digits can be that is no secret, each with an example. A key such as `4eC39HqLyjWDarjt` is none of them. */
const harmlessRuns: readonly RegExp[] = [
  // A number: `1772442000000`
  /^\d{1,20}$/,
  // A word in capitals: `INTERNATIONALIZATION`
  /^[A-Z]+$/,
  // Letters with capitals anywhere, if they are few: `readURLOfWebhooks`
  /^[A-Za-z]{1,19}$/,
  // Words of two letters or more, each with a capital but the first, and then a small number: `listConsentsByFarmerId`, `corebankingsystem2`
  /^[A-Za-z][a-z]+(?:[A-Z][a-z]+)*\d{0,3}$/,
];
