import { mePath } from "../domain/outcomes.js";
import { quote } from "./quote.js";
import type { Slip } from "./wrong-value.js";

// What a story's request can be made of, and what is said of a method, a path or a header that nobody could send.

const mostLetters = 20;
const longestPath = 1001;
/** A repaired path that is longer than this is not read out. */
const longestShown = 120;

export const methods = /^[A-Z]{1,20}$/;
/** A path as it goes over the wire: visible ASCII, all else encoded. */
export const paths = /^\/[!-~]{0,1000}$/;
export const headerNames = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What Node and browsers send as the value of a header: one line of Latin-1. */
export const headerValues = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What is wrong with the method of a request. */
export function methodSlip(name: string, value: string): Slip {
  const upper = value.trim().toUpperCase();
  if (/^[A-Z]+$/.test(upper) && upper.length > mostLetters) {
    const message = `${name} is too long: ${upper.length} letters`;
    return { code: "out_of_range", message, hint: `a method has ${mostLetters} letters at most` };
  }
  if (methods.test(upper)) {
    const message = `${name} is written in upper case, not ${quote(value)}`;
    return { code: "bad_format", message, hint: `write ${upper}` };
  }
  const message = `${name}: ${quote(value)} is not a method`;
  return { code: "bad_format", message, hint: "write letters only, such as GET or POST" };
}

/** What is wrong with the path of a request, and the path that was probably meant. */
export function pathSlip(name: string, value: string): Slip {
  if (value.length > longestPath) {
    const message = `${name} is too long: ${value.length} characters`;
    return { code: "out_of_range", message, hint: `a path has ${longestPath} characters at most` };
  }
  const slip = (hint: string): Slip => ({
    code: "bad_format",
    message: `${name}: ${quote(value)} is not a path`,
    hint,
  });
  const [, method, behind] = /^([A-Z]+) +(\/.*)$/s.exec(value) ?? [];
  if (behind !== undefined) return slip(`write method: ${method} and path: ${shown(encoded(behind))}`);
  if (!value.startsWith("/")) {
    return slip(`a path begins with / and has no host: ${shown(encoded(withoutHost(value)))}`);
  }
  const odd = /[^!-~]/u.exec(value)?.[0] ?? "";
  const what = odd === " " ? "the space as %20" : `${quote(odd)} as ${encoded(odd)}`;
  return slip(`encode ${what}: ${shown(encoded(value))}`);
}

function withoutHost(value: string): string {
  const [, rest] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/is.exec(value) ?? [];
  if (rest !== undefined) return rest.startsWith("/") ? rest : `/${rest}`;
  return value.includes("/") ? `/${value.trim()}` : mePath;
}

function encoded(path: string): string {
  return path.replace(/[^!-~]/gu, (character) =>
    // Half a character cannot be encoded; this is what stands for one.
    /\p{Surrogate}/u.test(character) ? "%EF%BF%BD" : encodeURIComponent(character),
  );
}

function shown(path: string): string {
  return path.length > longestShown ? `${path.slice(0, longestShown)}…` : path;
}

/** What is wrong with the name of a header. */
export function headerNameSlip(name: string): Slip {
  const repaired = name.replace(/[^0-9A-Za-z]+/g, "-").replace(/^-|-$/g, "");
  const example = repaired === "" ? "X-Trace" : repaired;
  return {
    code: "bad_format",
    message: `${quote(name)} is not the name of a header`,
    hint: `write letters, digits and hyphens: ${shown(example)}`,
  };
}

/** What is wrong with the value of a header. */
export function headerValueSlip(name: string, value: string): Slip {
  if (/[\r\n]/.test(value)) {
    const message = `${name} cannot be sent: a header has one line`;
    return { code: "bad_format", message, hint: "write its value on one line" };
  }
  const odd = [...value].find((character) => !headerValues.test(character)) ?? "";
  return {
    code: "bad_format",
    message: `${name} cannot be sent: ${quote(odd)} is no character of a header`,
    hint: "write ASCII or Latin-1 characters, or encode the value",
  };
}
