import { inOrder, type MemberOrder } from "./member-order.js";
import { anyStatus, type Draft, type Variant, type VariationRow } from "./row.js";

function written(id: string, write: (body: Draft["body"]) => string, why: string): Variant {
  return {
    id,
    why,
    change(draft) {
      draft.text = write(draft.body);
    },
  };
}

// Whatever stands for itself or escaped in JSON stands within a string, so that a text can be escaped as a whole.
function escaped(id: string, which: RegExp, spell: (found: string) => string, why: string): Variant {
  return {
    id,
    why,
    change(draft) {
      draft.text = draft.text.replace(which, spell);
    },
  };
}

function ordered(id: MemberOrder, why: string): Variant {
  return {
    id,
    why,
    change(draft, draw) {
      draft.body = inOrder(draft.body, id, draw);
    },
  };
}

const plain = (body: Draft["body"]) => JSON.stringify(body);

/** The rows of how the body is written down. Every form is the same JSON value. */
export const textRows: readonly VariationRow[] = [
  {
    id: "member_order",
    gap: "The order of members has no meaning in JSON (RFC 8259).",
    statuses: anyStatus,
    variants: [
      { id: "as_documented", why: "The serializer follows the description." },
      ordered("reversed", "The serializer writes the latest member first."),
      ordered("sorted", "The serializer sorts names, so that equal answers are equal bytes."),
      ordered("shuffled", "The serializer walks a hash table, which differs from one process to another."),
    ],
  },
  {
    id: "whitespace",
    gap: "White space between the tokens of JSON has no meaning (RFC 8259).",
    statuses: anyStatus,
    variants: [
      written("compact", plain, "It is short."),
      written("indented", (body) => JSON.stringify(body, null, 2), "It is easy to read."),
      written("tabs", (body) => JSON.stringify(body, null, "\t"), "It is easy to read, and shorter."),
      written("spaced", spaced, "Some languages put a space after a colon and a comma."),
      written(
        "line_ending",
        (body) => `${plain(body)}\n`,
        "Some encoders end every value with a line break.",
      ),
      written("leading", (body) => `\r\n  ${plain(body)}`, "Some templates begin with an empty line."),
    ],
  },
  {
    id: "escapes",
    gap: "A character of a JSON string may stand for itself or be escaped (RFC 8259).",
    statuses: anyStatus,
    variants: [
      { id: "few", why: "Only what has to be escaped is." },
      escaped("slashes", /\//g, () => "\\/", "Some encoders escape slashes for HTML's sake."),
      escaped("not_ascii", /[^\p{ASCII}]/gu, unicodeEscapes, "Some encoders write ASCII alone."),
      escaped(
        "html",
        /[<>&'\u2028\u2029]/g,
        unicodeEscapes,
        "Some encoders make a text safe to embed in a page.",
      ),
      escaped("first_letters", /(?<=")[a-z]/g, unicodeEscapes, "A proxy masks or rewrites names."),
    ],
  },
];

// Strings are matched first, so that no colon or comma inside of one is taken for a token.
function spaced(body: Draft["body"]): string {
  return plain(body).replace(/("(?:[^"\\]|\\.)*")|[:,]/g, (found, string) => string ?? `${found} `);
}

function unicodeEscapes(found: string): string {
  return found
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
