import {
  anyStatus,
  type Draft,
  headerNames,
  headerOrder,
  headers,
  headerValue,
  memberOrder,
  row,
  spelled,
  unchanged,
  type VariationRow,
  written,
} from "./variant.js";

const plain = (body: Draft["body"]) => JSON.stringify(body);
const contentType = (value: string) => headerValue("Content-Type", () => value);
const allow = (write: (methods: string[]) => string) =>
  headerValue("Allow", (value) => write(value.split(", ")));

/** The rows of how the body is written down. Every form is the same JSON value. */
export const textRows: readonly VariationRow[] = [
  row("member_order", anyStatus, {
    as_documented: unchanged,
    reversed: memberOrder("reversed"),
    sorted: memberOrder("sorted"),
    shuffled: memberOrder("shuffled"),
  }),
  row("whitespace", anyStatus, {
    compact: written(plain),
    indented: written((body) => JSON.stringify(body, null, 2)),
    tabs: written((body) => JSON.stringify(body, null, "\t")),
    spaced: written(spaced),
    line_ending: written((body) => `${plain(body)}\n`),
    leading: written((body) => `\r\n  ${plain(body)}`),
  }),
  row("escapes", anyStatus, {
    few: unchanged,
    slashes: spelled(/\//g, () => "\\/"),
    not_ascii: spelled(/[^\p{ASCII}]/gu, unicodeEscapes),
    html: spelled(/[<>&'\u2028\u2029]/g, unicodeEscapes),
    first_letters: spelled(/(?<=")[a-z]/g, unicodeEscapes),
  }),
];

/** The rows of the headers. */
export const headerRows: readonly VariationRow[] = [
  row("content_type", anyStatus, {
    bare: unchanged,
    charset: contentType("application/json; charset=utf-8"),
    no_space: contentType("application/json;charset=UTF-8"),
    quoted: contentType('application/json; charset="utf-8"'),
    space_before: contentType("application/json ; charset=utf-8"),
  }),
  row("allow", [405], {
    as_documented: unchanged,
    reversed: allow((methods) => methods.reverse().join(", ")),
    no_space: allow((methods) => methods.join(",")),
  }),
  row("cache_control", anyStatus, {
    none: unchanged,
    no_store: headers(["Cache-Control", "no-store"]),
    private: headers(["Cache-Control", "private, max-age=0, must-revalidate"]),
    old_caches: headers(["Cache-Control", "no-cache, no-store"], ["Pragma", "no-cache"], ["Expires", "0"]),
  }),
  row("vary", anyStatus, {
    none: unchanged,
    encoding: headers(["Vary", "Accept-Encoding"]),
    twice: headers(["Vary", "Origin"], ["Vary", "Accept-Encoding"]),
  }),
  row("server", anyStatus, {
    none: unchanged,
    proxy: headers(["Server", "nginx"]),
    framework: headers(["Server", "gunicorn/22.0.0 (Linux)"], ["X-Powered-By", "relying-party"]),
  }),
  row("via", anyStatus, {
    none: unchanged,
    gateway: headers(["Via", "1.1 gateway"]),
    two: headers(["Via", "2 edge, 1.1 gateway (x)"]),
  }),
  row("security_headers", anyStatus, {
    none: unchanged,
    // A lifetime above zero would make browsers refuse plain HTTP on the developer's own machine.
    transport: headers(["Strict-Transport-Security", "max-age=0"]),
    sniffing: headers(
      ["X-Content-Type-Options", "nosniff"],
      ["X-Frame-Options", "DENY"],
      ["Content-Security-Policy", "default-src 'none'"],
    ),
  }),
  row("unknown_headers", anyStatus, {
    none: unchanged,
    timing: headers(["Server-Timing", 'gate;dur=0.4, total;dur=1.2;desc="all"']),
    odd: headers(["X_Upstream.Name", "rp=1; path=/"]),
    empty: headers(["X-Debug", ""]),
  }),
  row("header_order", anyStatus, {
    as_set: unchanged,
    reversed: headerOrder("reversed"),
    sorted: headerOrder("sorted"),
    shuffled: headerOrder("shuffled"),
  }),
  row("header_casing", anyStatus, {
    usual: unchanged,
    lower: headerNames((name) => name.toLowerCase()),
    upper: headerNames((name) => name.toUpperCase()),
    first_letter: headerNames((name) => name.slice(0, 1) + name.slice(1).toLowerCase()),
  }),
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
