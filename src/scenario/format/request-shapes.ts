import { redact } from "../../rules/keys/redact.js";
import { mePath } from "../../rules/known-paths.js";
import * as s from "../../schema/shape.js";

// Requests of a story and of the control plane.

const methods = /^[A-Z]{1,20}$/;
const method = s.text({
  noun: "a word in upper case",
  example: "GET",
  pattern: methods,
  hint(text) {
    const upperCase = text.toUpperCase();
    return methods.test(upperCase) ? `write ${upperCase}` : undefined;
  },
});

/** As it is sent: visible ASCII, with any other character encoded. */
const requestPath = s.text({
  noun: "an encoded path",
  example: `${mePath}?name=value`,
  pattern: /^\/[!-~]{0,1000}$/,
  hint(text) {
    const path = encodedPath(text);
    return path === undefined ? undefined : `a path starts with / and is encoded: ${path}`;
  },
});

/** The path of what people paste: `/v1/caf%C3%A9` of `GET https://service/v1/café`. None of a long text, or one that is no text. */
function encodedPath(pasted: string): string | undefined {
  const address = pasted.replace(/^[A-Z]+ +/, "");
  const target = address.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
  const isLong = target.length > 200;
  const hasHalfCharacter = /[\uD800-\uDFFF]/u.test(target);
  if (isLong || hasHalfCharacter) return undefined;
  const encoded = target.replace(/[^!-~]/gu, encodeURIComponent);
  return encoded.startsWith("/") ? encoded : `/${encoded}`;
}

export const headerName = s.text({
  noun: "the name of a header",
  example: "X-Trace",
  pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
});
/** Whether a header is for a key, or its name is one: names are shown, and no place for a key (R46). */
const isOfKey = (name: string) => name.toLowerCase() === "x-api-key" || redact(name) !== name;
const sentHeaderName = s.text({
  ...headerName,
  noun: "the name of a header to set here",
  accepts: (name) => !isOfKey(name),
  hint: (name) => (isOfKey(name) ? "use key: a ref, none, malformed or unknown" : undefined),
});
/** One line of Latin-1: what Node and browsers send. */
const headerValue = s.text({
  noun: "one line of ASCII or Latin-1",
  example: "X-Trace: abc",
  pattern: /^[\t\x20-\x7e\x80-\xff]*$/,
});

export const requestFields = {
  method: s.optional(method),
  path: s.optional(requestPath),
  headers: s.optional(s.record(headerValue, sentHeaderName)),
  body: s.optional(s.anything()),
};
