import type { Assumptions } from "../../rules/assumptions.js";
import { successStatuses } from "../../rules/outcomes.js";
import { base62From, type RandomStream, randomStream } from "../../rules/seed.js";
import type { RowOfVariants } from "../../sandbox/variants.js";
import { reasonPhrases } from "../http-messages.js";

/** One possible behavior of a real service in a gap of the specification. */
export interface RowVariant {
  readonly id: string;
  /** The statuses of its responses. Default: its row's. */
  readonly statuses?: readonly number[];
  /** The assumptions with which the response is made. */
  readonly assume?: Partial<Assumptions>;
  /** The request id, made from its 24 hex digits; different digits must result in different ids. */
  readonly requestId?: (digits: string) => string;
  /** How it changes a response that is made. */
  readonly change?: Change;
}

/** A gap in the specification; `docs/specification.md` lists its variants. */
export interface VariationRow extends RowOfVariants<RowVariant> {
  /** The statuses of the responses that have it. */
  readonly statuses: readonly number[];
  /** The assumption that its variants set, if it is about one. */
  readonly assumption: keyof Assumptions | undefined;
}

/** A response while its variants change it, one after the other. */
export interface Draft {
  readonly status: number;
  /** The body as a value, until a row has serialized it. */
  body: Body;
  /** The serialized body; empty until a row has serialized it. */
  text: string;
  /** If there is a `Content-Length`, its value is corrected at the end. */
  headers: readonly Header[];
}

interface Body {
  readonly data?: {
    readonly [name: string]: unknown;
    readonly organization: { name: string };
    readonly scopes: string[];
    readonly limits: object;
    readonly usage: object;
  };
  readonly error?: object;
}

type Header = readonly [name: string, value: string];

type Change = (draft: Draft, random: RandomStream) => void;

/** The variants of a row by their ids: each with its members, or only its change. */
type Variants = Readonly<Record<string, Omit<RowVariant, "id"> | Change>>;

/** The variants of an assumption's row by their ids: each with the value that it assumes. */
type AssumptionVariants<Value> = Readonly<
  Record<string, { readonly is: Value } & Pick<RowVariant, "statuses" | "change">>
>;

/** Creates a row. Its variant `ofMinimal` is what `minimal` does: the first one, which changes nothing unless `variants` has it. */
function row(
  id: string,
  statuses: readonly number[],
  ofMinimal: string,
  variants: Variants,
  assumption?: keyof Assumptions,
): VariationRow {
  const rowVariants: RowVariant[] = [];
  for (const [name, variant] of Object.entries({ [ofMinimal]: {}, ...variants })) {
    const members = typeof variant === "function" ? { change: variant } : variant;
    rowVariants.push({ id: name, ...members });
  }
  return { id, statuses, assumption, variants: rowVariants as [RowVariant, ...RowVariant[]] }; // it has `ofMinimal`
}

/** Creates the row of an assumption. Its first variant is what `minimal` does. */
function assumptionRow<Name extends keyof Assumptions>(
  name: Name,
  statuses: readonly number[],
  assumptionVariants: AssumptionVariants<Assumptions[Name]>,
): VariationRow {
  const variants: Record<string, Omit<RowVariant, "id">> = {};
  for (const [id, { is, ...more }] of Object.entries(assumptionVariants)) {
    variants[id] = { assume: { [name]: is }, ...more };
  }
  const [ofMinimal] = Object.keys(assumptionVariants);
  return row(name, statuses, ofMinimal as string, variants, name);
}

/** A variant for each of these values, with its name. */
function valuesAsIds<const Value extends string>(...values: readonly Value[]): AssumptionVariants<Value> {
  return Object.fromEntries(values.map((is) => [is, { is }]));
}

/** The statuses of responses that show the limits of a key. */
export const limitStatuses: readonly number[] = [...successStatuses, 429];
export const errorStatuses: readonly number[] = [401, 403, 404, 405, 429, 500, 501, 502, 503, 504];
export const allStatuses: readonly number[] = [...successStatuses, ...errorStatuses];

// Each form contains the digits that distinguish ids, and no two forms have the same length.
const requestIdForm = row("request_id_form", allStatuses, "prefixed", {
  uuid: { requestId: uuidWith },
  trace: { requestId: (digits) => digits + digits.slice(0, 8) },
  dated: { requestId: (digits) => `1-${digits.slice(16)}-${digits}` },
  number: { requestId: (digits) => String(Number.parseInt(digits.slice(16), 16)) },
  opaque: { requestId: (digits) => `gw:7/${digits}+A==` },
  long: { requestId: (digits) => `${digits}.`.repeat(8) },
});

const requestIdOnErrors = assumptionRow("request_id_on_errors", errorStatuses, {
  absent: { is: false },
  present: { is: true },
});

/** The rows that only a response with a request id shows. */
export const idRows: readonly VariationRow[] = [requestIdOnErrors, requestIdForm];

/** The rows of what also a response without a body has: what assumptions choose, and its request id. */
const bodilessRows: readonly VariationRow[] = [
  assumptionRow(
    "rate_limit_code",
    [429],
    valuesAsIds(
      "rate_limited",
      "rate_limit_exceeded",
      "too_many_requests",
      "quota_exceeded",
      "RATE_LIMIT_EXCEEDED",
      "ACCESS_EXCEEDED",
      "err.request.too_many_requests",
    ),
  ),
  requestIdOnErrors,
  assumptionRow("retry_after", [429], valuesAsIds("none", "seconds", "date")),
  assumptionRow("rate_limit_headers", limitStatuses, valuesAsIds("none", "draft", "legacy")),
  assumptionRow("www_authenticate", [401], {
    absent: { is: false },
    api_key: { is: true },
    bare: { is: true, change: rewriteHeader("WWW-Authenticate", () => "ApiKey") },
  }),
  requestIdForm,
];

/** The rows of a 200's content. The top level and `data.organization` have exactly the specified members (R1, R2). */
const meRows: readonly VariationRow[] = [
  row("data_members", [200], "none", {
    text: dataMembers({ region: "north" }),
    nothing: dataMembers({ contact: null }),
    nested: dataMembers({
      support: { channels: [{ kind: "email", hours: { from: 8, to: 17 } }], priority: false },
    }),
    many: dataMembers(manyFeatures(12)),
  }),
  row("limits_members", [200], "none", {
    another_window: dataMembers({ per_hour: 600 }, "limits"),
    unlimited: dataMembers({ per_month: null }, "limits"),
    burst: dataMembers({ burst: { size: 10, refill_seconds: 1.5 } }, "limits"),
  }),
  row("usage_members", [200], "none", {
    another_window: dataMembers({ this_month: 31_415 }, "usage"),
    time: dataMembers({ counted_since: "2026-01-01T00:00:00Z" }, "usage"),
    by_endpoint: dataMembers({ by_endpoint: { me: 1 } }, "usage"),
  }),
  row("scope_order", [200], "as_granted", {
    reversed: ({ body }) => void body.data?.scopes.reverse(),
    sorted: ({ body }) => void body.data?.scopes.sort(),
  }),
];

/** The statuses of errors that have a reason to explain. */
const explained: readonly number[] = [403, 429];

/** The rows of an error's content. The top level has only `error` (R27). */
const errorRows: readonly VariationRow[] = [
  row("error_members", errorStatuses, "none", {
    type: errorMembers({ type: "about:blank" }),
    status: errorMembers({ status: null, retryable: false }),
    nested: errorMembers({ links: [{ rel: "help", href: "/help/errors" }] }),
  }),
  assumptionRow("error_details", errorStatuses, {
    absent: { is: false },
    empty: { is: true, change: errorMembers({ details: {} }) },
    help: { is: true, change: errorMembers({ details: { help: "/help/errors", fields: [] } }) },
    // A 401 never depends on its reason (R14).
    what_was_rejected: { is: true, statuses: explained },
    something_else: {
      is: true,
      statuses: explained,
      change: errorMembers({
        details: { domain: "relying-party", causes: [{ depth: 1, notes: [] }], hint: null },
      }),
    },
  }),
  row("message", errorStatuses, "a_sentence", {
    reason_phrase: (draft, random) =>
      errorMembers({ message: reasonPhrases[draft.status] ?? "Error" })(draft, random),
    other_words: errorMembers({ message: "Your request cannot be processed." }),
    empty: errorMembers({ message: "" }),
    other_language: errorMembers({ message: "Die Anfrage wurde zurückgewiesen – 요청이 거부되었습니다 🚫" }),
    lines: errorMembers({ message: "Request rejected.\n\n\t- See the manual.\r\n" }),
    markup: errorMembers({ message: "<p>Request &quot;rejected&quot;</p>" }),
    long: errorMembers({
      message: "This request was rejected; please read the manual before you try again. ".repeat(40),
    }),
  }),
];

/** The rows of the body's serialization. Every form is the same JSON value. */
const textRows: readonly VariationRow[] = [
  row("member_order", allStatuses, "as_documented", {
    reversed: memberOrder(reversed),
    sorted: memberOrder(sorted),
    shuffled: memberOrder(shuffled),
  }),
  row("whitespace", allStatuses, "compact", {
    compact: serializedBy((body) => JSON.stringify(body)),
    indented: serializedBy((body) => JSON.stringify(body, null, 2)),
    tabs: serializedBy((body) => JSON.stringify(body, null, "\t")),
    spaced: serializedBy(spaced),
    line_ending: serializedBy((body) => `${JSON.stringify(body)}\n`),
    leading: serializedBy((body) => `\r\n  ${JSON.stringify(body)}`),
  }),
  row("escapes", allStatuses, "few", {
    slashes: respell(/\//g, () => "\\/"),
    not_ascii: respell(/[\x80-\uFFFF]/g, unicodeEscapes),
    html: respell(/[<>&'\u2028\u2029]/g, unicodeEscapes),
    first_letters: respell(/(?<=")[a-z]/g, unicodeEscapes),
  }),
  row("body_length", allStatuses, "short", {
    long: padded(2_000),
    longer: padded(20_000),
  }),
];

/** The rows that make a body longer, besides `body_length`: a client of short bodies breaks by each of them. */
export const lengtheningRows: readonly VariationRow[] = [
  ...meRows,
  ...errorRows,
  ...textRows.filter(({ id }) => id !== "body_length" && id !== "member_order"),
];

/** The rows of headers, whose order and spelling come last. */
const headerRows: readonly VariationRow[] = [
  row("content_type", allStatuses, "bare", {
    charset: rewriteHeader("Content-Type", () => "application/json; charset=utf-8"),
    no_space: rewriteHeader("Content-Type", () => "application/json;charset=UTF-8"),
    quoted: rewriteHeader("Content-Type", () => 'application/json; charset="utf-8"'),
    space_before: rewriteHeader("Content-Type", () => "application/json ; charset=utf-8"),
  }),
  row("allow", [405], "as_documented", {
    reversed: rewriteHeader("Allow", (methods) => methods.split(", ").reverse().join(", ")),
    no_space: rewriteHeader("Allow", (methods) => methods.replaceAll(", ", ",")),
  }),
  row("cache_control", allStatuses, "none", {
    no_store: headers(["Cache-Control", "no-store"]),
    private: headers(["Cache-Control", "private, max-age=0, must-revalidate"]),
    old_caches: headers(["Cache-Control", "no-cache, no-store"], ["Pragma", "no-cache"], ["Expires", "0"]),
  }),
  row("etag", allStatuses, "none", {
    // Equal only for equal bytes (RFC 9110, 8.8.1).
    strong: (draft, random) => headers(["ETag", `"${digestOf(draft.text)}"`])(draft, random),
    weak: headers(["ETag", 'W/"5f3b9a"']),
  }),
  row("content_length", allStatuses, "exact", { chunked: withoutHeader("Content-Length") }),
  row("vary", allStatuses, "none", {
    encoding: headers(["Vary", "Accept-Encoding"]),
    twice: headers(["Vary", "Origin"], ["Vary", "Accept-Encoding"]),
  }),
  row("server", allStatuses, "none", {
    proxy: headers(["Server", "nginx"]),
    framework: headers(["Server", "gunicorn/22.0.0 (Linux)"], ["X-Powered-By", "relying-party"]),
  }),
  row("via", allStatuses, "none", {
    gateway: headers(["Via", "1.1 gateway"]),
    two: headers(["Via", "2 edge, 1.1 gateway (x)"]),
  }),
  row("security_headers", allStatuses, "none", {
    // With a lifetime above zero, browsers would reject plain HTTP on the developer's machine.
    transport: headers(["Strict-Transport-Security", "max-age=0"]),
    sniffing: headers(
      ["X-Content-Type-Options", "nosniff"],
      ["X-Frame-Options", "DENY"],
      ["Content-Security-Policy", "default-src 'none'"],
    ),
  }),
  row("unknown_headers", allStatuses, "none", {
    timing: headers(["Server-Timing", 'gate;dur=0.4, total;dur=1.2;desc="all"']),
    odd: headers(["X_Upstream.Name", "rp=1; path=/"]),
    empty: headers(["X-Debug", ""]),
  }),
  row("header_order", allStatuses, "as_set", {
    reversed: headerOrder(reversed),
    sorted: headerOrder(sorted),
    shuffled: headerOrder(shuffled),
  }),
  row("header_casing", allStatuses, "usual", {
    lower: headerNames((name) => name.toLowerCase()),
    upper: headerNames((name) => name.toUpperCase()),
    first_letter: headerNames((name) => name.slice(0, 1) + name.slice(1).toLowerCase()),
  }),
];

/** One row for each gap in the specification. They apply in this order: content, serialization, headers. */
export const variationTable: readonly VariationRow[] = [
  ...bodilessRows,
  ...meRows,
  ...errorRows,
  ...textRows,
  ...headerRows,
];

/** The rows that a response can have, by its content. Which of them it has follows from its status. */
export const rowsByContent = {
  me: variationTable,
  other: variationTable.filter((row) => !meRows.includes(row)),
  /** No body. */
  empty: bodilessRows,
  /** What a fault sends: the service that varies has not made it. */
  faulty: idRows,
};

function digestOf(text: string): string {
  return base62From(randomStream(0, "etag", text), 22);
}

/** A UUID that contains the digits of a request id. */
function uuidWith(digits: string): string {
  const padded = digits + digits.slice(0, 6);
  return `${padded.slice(0, 8)}-${padded.slice(8, 12)}-4${padded.slice(12, 15)}-a${padded.slice(15, 18)}-${padded.slice(18, 30)}`;
}

function manyFeatures(count: number): Record<string, boolean> {
  const features: Record<string, boolean> = {};
  for (let index = 0; index < count; index += 1) features[`feature_${index + 1}`] = index % 2 === 0;
  return features;
}

/** Adds members to `data` of a success, or to a member of it. */
function dataMembers(added: object, member?: "limits" | "usage"): Change {
  return ({ body: { data } }) => {
    if (data !== undefined) Object.assign(member === undefined ? data : data[member], added);
  };
}

/** Sets members of `error`. */
function errorMembers(added: object): Change {
  return ({ body }) => void Object.assign(body.error ?? {}, added);
}

/** Adds headers, except those that the endpoint sets. */
function headers(...added: readonly Header[]): Change {
  return (draft) => {
    const ofEndpoint = new Set(draft.headers.map(([name]) => name.toLowerCase()));
    const missing = added.filter(([name]) => !ofEndpoint.has(name.toLowerCase()));
    draft.headers = [...draft.headers, ...missing];
  };
}

function rewriteHeader(wanted: string, rewrite: (value: string) => string): Change {
  return (draft) => {
    draft.headers = draft.headers.map(([name, value]) => [name, name === wanted ? rewrite(value) : value]);
  };
}

function withoutHeader(unwanted: string): Change {
  return (draft) => {
    draft.headers = draft.headers.filter(([name]) => name !== unwanted);
  };
}

function headerNames(spell: (name: string) => string): Change {
  return (draft) => {
    draft.headers = draft.headers.map(([name, value]) => [spell(name), value]);
  };
}

/** Puts named items into another order. */
type Arrange = <Item extends readonly [name: string, value: unknown]>(
  items: readonly Item[],
  random: RandomStream,
) => Item[];

function headerOrder(arrange: Arrange): Change {
  return (draft, random) => {
    draft.headers = arrange(draft.headers, random);
  };
}

/** Changes the order of members in all objects of the body, but not of lists. */
function memberOrder(arrange: Arrange): Change {
  const inOrder = <Value>(value: Value, random: RandomStream): Value => {
    if (Array.isArray(value)) return value.map((item) => inOrder(item, random)) as Value;
    if (value === null || typeof value !== "object") return value;
    const members = Object.entries(value).map(([name, member]) => [name, inOrder(member, random)] as const);
    return Object.fromEntries(arrange(members, random)) as Value;
  };
  return (draft, random) => {
    draft.body = inOrder(draft.body, random);
  };
}

function reversed<Item>(items: readonly Item[]): Item[] {
  return [...items].reverse();
}

function sorted<Item extends readonly [name: string, value: unknown]>(items: readonly Item[]): Item[] {
  return [...items].sort(([name], [otherName]) => {
    if (name === otherName) return 0;
    return name < otherName ? -1 : 1;
  });
}

/** The order of two items does not depend on others, so that another row does not change it. */
function shuffled<Item extends readonly [name: string, value: unknown]>(
  items: readonly Item[],
  random: RandomStream,
): Item[] {
  const salt = random();
  const placed = items.map((item) => ({ item, place: randomStream(salt, "place", item[0])() }));
  placed.sort((one, other) => one.place - other.place);
  return placed.map(({ item }) => item);
}

function serializedBy(write: (body: Body) => string): Change {
  return (draft) => {
    draft.text = write(draft.body);
  };
}

/** JSON with a space after each colon and comma. Strings are matched first, so that those inside a string stay. */
function spaced(body: Body): string {
  const text = JSON.stringify(body);
  return text.replace(/("(?:[^"\\]|\\.)*")|[:,]/g, (found, string) => string ?? `${found} `);
}

/** Spells some characters of strings differently. In JSON, only these have two spellings, so that the whole text can be searched. */
function respell(which: RegExp, spell: (characters: string) => string): Change {
  return (draft) => {
    draft.text = draft.text.replace(which, spell);
  };
}

/** White space before the last brace, which changes neither the start nor the end of the body. */
function padded(length: number): Change {
  return (draft) => {
    draft.text = draft.text.replace(/\}(?=\s*$)/, `${" ".repeat(length)}}`);
  };
}

function unicodeEscapes(characters: string): string {
  let escapes = "";
  for (const unit of characters.split("")) {
    escapes += `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  }
  return escapes;
}
