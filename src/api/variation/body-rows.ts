import type { RandomStream } from "../../rules/seed.js";
import { reasonPhrases } from "../http-messages.js";
import {
  type Arrange,
  allStatuses,
  assumptionRow,
  errorStatuses,
  reversed,
  shuffled,
  sorted,
  type VariantMembers,
  type VariationRow,
  variationRow,
} from "./row.js";

// The rows of what a body contains, and of how it is written.

/** The rows of a 200's content. The top level and `data.organization` have exactly the specified members (R1, R2). */
export const meRows: readonly VariationRow[] = [
  variationRow({
    id: "data_members",
    statuses: [200],
    minimal: "none",
    otherVariants: {
      text: dataMembers({ region: "north" }),
      nothing: dataMembers({ contact: null }),
      nested: dataMembers({
        support: { channels: [{ kind: "email", hours: { from: 8, to: 17 } }], priority: false },
      }),
      many: dataMembers(manyFeatures(12)),
    },
  }),
  variationRow({
    id: "limits_members",
    statuses: [200],
    minimal: "none",
    otherVariants: {
      another_window: dataMembers({ per_hour: 600 }, "limits"),
      unlimited: dataMembers({ per_month: null }, "limits"),
      burst: dataMembers({ burst: { size: 10, refill_seconds: 1.5 } }, "limits"),
    },
  }),
  variationRow({
    id: "usage_members",
    statuses: [200],
    minimal: "none",
    otherVariants: {
      another_window: dataMembers({ this_month: 31_415 }, "usage"),
      time: dataMembers({ counted_since: "2026-01-01T00:00:00Z" }, "usage"),
      by_endpoint: dataMembers({ by_endpoint: { me: 1 } }, "usage"),
    },
  }),
  variationRow({
    id: "scope_order",
    statuses: [200],
    minimal: "as_granted",
    otherVariants: {
      reversed: scopeOrder((scopes) => [...scopes].reverse()),
      sorted: scopeOrder((scopes) => [...scopes].sort()),
    },
  }),
];

/** The statuses of errors that have a reason to explain. */
const explainedStatuses: readonly number[] = [403, 429];

/** The rows of an error's content. The top level has only `error` (R27). */
export const errorRows: readonly VariationRow[] = [
  variationRow({
    id: "error_members",
    statuses: errorStatuses,
    minimal: "none",
    otherVariants: {
      type: errorMembers({ type: "about:blank" }),
      status: errorMembers({ status: null, retryable: false }),
      nested: errorMembers({ links: [{ rel: "help", href: "/help/errors" }] }),
    },
  }),
  assumptionRow("error_details", errorStatuses, {
    absent: { value: false },
    empty: { value: true, ...errorMembers({ details: {} }) },
    help: { value: true, ...errorMembers({ details: { help: "/help/errors", fields: [] } }) },
    // A 401 never depends on its reason (R14).
    what_was_rejected: { value: true, isUsual: true, statuses: explainedStatuses },
    something_else: {
      value: true,
      statuses: explainedStatuses,
      ...errorMembers({
        details: { domain: "relying-party", causes: [{ depth: 1, notes: [] }], hint: null },
      }),
    },
  }),
  variationRow({
    id: "message",
    statuses: errorStatuses,
    minimal: "a_sentence",
    otherVariants: {
      reason_phrase: {
        changeBody(body, _random, status) {
          return { ...body, error: { ...body.error, message: reasonPhrases[status] ?? "Error" } };
        },
      },
      other_words: errorMembers({ message: "Your request cannot be processed." }),
      empty: errorMembers({ message: "" }),
      other_language: errorMembers({
        message: "Die Anfrage wurde zurückgewiesen – 요청이 거부되었습니다 🚫",
      }),
      lines: errorMembers({ message: "Request rejected.\n\n\t- See the manual.\r\n" }),
      markup: errorMembers({ message: "<p>Request &quot;rejected&quot;</p>" }),
      long: errorMembers({
        message: "This request was rejected; please read the manual before you try again. ".repeat(40),
      }),
    },
  }),
];

/** The rows of how a body is written. Every form is the same JSON value. */
export const textRows: readonly VariationRow[] = [
  variationRow({
    id: "member_order",
    statuses: allStatuses,
    minimal: "as_documented",
    otherVariants: {
      reversed: memberOrder(reversed),
      sorted: memberOrder(sorted),
      shuffled: memberOrder(shuffled),
    },
  }),
  variationRow({
    id: "whitespace",
    statuses: allStatuses,
    minimal: "compact",
    otherVariants: {
      indented: { writeBody: (body) => JSON.stringify(body, null, 2) },
      tabs: { writeBody: (body) => JSON.stringify(body, null, "\t") },
      // A space after each colon and comma. Strings are matched first, so that those inside a string stay.
      spaced: {
        writeBody(body) {
          const json = JSON.stringify(body);
          return json.replace(/("(?:[^"\\]|\\.)*")|[:,]/g, (found, string) => string ?? `${found} `);
        },
      },
      line_ending: { writeBody: (body) => `${JSON.stringify(body)}\n` },
      leading: { writeBody: (body) => `\r\n  ${JSON.stringify(body)}` },
    },
  }),
  // In a string, JSON allows other spellings of these characters: `\/` of a slash, `\u00e9` of `é`.
  variationRow({
    id: "escapes",
    statuses: allStatuses,
    minimal: "few",
    otherVariants: {
      slashes: respelled(/\//g, () => "\\/"),
      not_ascii: respelled(/[\x80-\uFFFF]/g, unicodeEscapes),
      html: respelled(/[<>&'\u2028\u2029]/g, unicodeEscapes),
      // The first letter of a name or a text: `"\u0064ata"` is `"data"`.
      first_letters: respelled(/(?<=")[a-z]/g, unicodeEscapes),
    },
  }),
  variationRow({
    id: "body_length",
    statuses: allStatuses,
    minimal: "short",
    otherVariants: {
      long: padded(2_000),
      longer: padded(20_000),
    },
  }),
];

function manyFeatures(count: number): Record<string, boolean> {
  const features: Record<string, boolean> = {};
  for (let index = 0; index < count; index += 1) features[`feature_${index + 1}`] = index % 2 === 0;
  return features;
}

/** More members in `data` of a success, or in a member of it. */
function dataMembers(added: object, member?: "limits" | "usage"): VariantMembers {
  return {
    changeBody(body) {
      const { data } = body;
      if (data === undefined) return body;
      if (member === undefined) return { ...body, data: { ...data, ...added } };
      return { ...body, data: { ...data, [member]: { ...data[member], ...added } } };
    },
  };
}

function scopeOrder(arrange: (scopes: readonly string[]) => string[]): VariantMembers {
  return {
    changeBody(body) {
      const { data } = body;
      if (data === undefined) return body;
      return { ...body, data: { ...data, scopes: arrange(data.scopes) } };
    },
  };
}

/** These members in `error`, in place of its own or besides them. */
function errorMembers(added: object): VariantMembers {
  return {
    changeBody(body) {
      if (body.error === undefined) return body;
      return { ...body, error: { ...body.error, ...added } };
    },
  };
}

/** Another order of members in all objects of the body, but not of lists. */
function memberOrder(arrange: Arrange): VariantMembers {
  return { changeBody: (body, random) => inOrder(body, arrange, random) };
}

function inOrder<Value>(value: Value, arrange: Arrange, random: RandomStream): Value {
  if (value === null || typeof value !== "object") return value;
  // A list and an object keep their kind.
  if (Array.isArray(value)) return value.map((item) => inOrder(item, arrange, random)) as Value;
  const members = Object.entries(value).map(
    ([name, member]) => [name, inOrder(member, arrange, random)] as const,
  );
  return Object.fromEntries(arrange(members, random)) as Value;
}

/** Another spelling of characters that JSON text has only inside strings: so the whole text is searched. */
function respelled(which: RegExp, spell: (characters: string) => string): VariantMembers {
  return { changeText: (text) => text.replace(which, spell) };
}

/** A longer text of the same value: it has this many spaces before its last bracket, or at its start if it ends with none. */
function padded(length: number): VariantMembers {
  return {
    changeText(text) {
      const last = text.trimEnd().length - 1;
      const place = "}]".includes(text.charAt(last)) ? last : 0;
      return text.slice(0, place) + " ".repeat(length) + text.slice(place);
    },
  };
}

function unicodeEscapes(characters: string): string {
  let escapes = "";
  for (const unit of characters.split("")) {
    escapes += `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  }
  return escapes;
}
