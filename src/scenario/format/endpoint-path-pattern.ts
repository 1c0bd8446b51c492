import { controlPath, mePath } from "../../rules/known-paths.js";

// The paths that an endpoint may have. They are one pattern, because editors read it from the JSON Schema. No client changes such a
// path before it sends it, no other tool reads it in another way, and the sandbox has nothing else there:
//
//   path       = "/", or segments with a "/" before each, and perhaps a last "/"; no path of the control plane, not `/me`
//   segment    = parameter or fixed
//   parameter  = {id}             not :id, {a}{b}
//   fixed      = consents, %20    not %61, which is `a`; not "." and ".."
//
// Each part below is the text of a pattern. `(?!…)` rejects what would follow at that position.

/** `a`, `-`. What clients send as it is (RFC 3986), without `*`, `$`, `(` and `)`, which write parameters in other tools. */
const plainCharacter = String.raw`[\w.~!&'+,;=@:-]`;

/** `%61` for `a`. What needs no encoding (RFC 3986), encoded: a client would send `a`. */
export const needlesslyEncoded = `%(?:${[
  "2[DdEe]", // - and .
  String.raw`3\d`, // 0 to 9
  "[46][1-9A-Fa-f]", // A to O, a to o
  String.raw`[57][\dAa]`, // P to Z, p to z
  "5[Ff]", // _
  "7[Ee]", // ~
].join("|")})`;

/** `%20`, not `%61` and not `%2`. */
const encodedCharacter = String.raw`(?!${needlesslyEncoded})%[\dA-Fa-f]{2}`;

/** `.`, `..` and `:id`. Clients resolve the first two, and the last is a parameter in other tools. */
const startOfRejectedSegment = String.raw`:|\.{1,2}(?:/|$)`;

/** `consents`, `caf%C3%A9`. */
const fixedSegment = `(?!${startOfRejectedSegment})(?:${plainCharacter}|${encodedCharacter})+`;

/** `{id}`. */
const parameter = String.raw`\{[\w-]+\}`;

/** `/consents/{id}`. Of the path `/`, nothing: its slash is the last one. */
const segments = `(?:/(?:${parameter}|${fixedSegment}))*`;

/** The paths of the control plane, and `/me`. */
const takenPath = `(?:${controlPath}(?:/|$)|${mePath}$)`;

/** An empty text is no path: `(?=/)` needs a slash at the start. */
export const pathPattern = new RegExp(`^(?!${takenPath})(?=/)${segments}/?$`);
