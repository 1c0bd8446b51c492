import { base62From, randomStream } from "../../rules/seed.js";
import { type Arrange, reversed, shuffled, sorted } from "./orders.js";
import { allStatuses, type Header, row, type VariantMembers, type VariationRow } from "./row.js";

/** The rows of headers, whose order and spelling come last. */
export const headerRows: readonly VariationRow[] = [
  row({
    id: "content_type",
    statuses: allStatuses,
    minimal: "bare",
    others: {
      charset: rewrittenHeader("Content-Type", () => "application/json; charset=utf-8"),
      no_space: rewrittenHeader("Content-Type", () => "application/json;charset=UTF-8"),
      quoted: rewrittenHeader("Content-Type", () => 'application/json; charset="utf-8"'),
      space_before: rewrittenHeader("Content-Type", () => "application/json ; charset=utf-8"),
    },
  }),
  row({
    id: "allow",
    statuses: [405],
    minimal: "as_documented",
    others: {
      reversed: rewrittenHeader("Allow", (methods) => methods.split(", ").reverse().join(", ")),
      no_space: rewrittenHeader("Allow", (methods) => methods.replaceAll(", ", ",")),
    },
  }),
  row({
    id: "cache_control",
    statuses: allStatuses,
    minimal: "none",
    others: {
      no_store: moreHeaders(["Cache-Control", "no-store"]),
      private: moreHeaders(["Cache-Control", "private, max-age=0, must-revalidate"]),
      old_caches: moreHeaders(
        ["Cache-Control", "no-cache, no-store"],
        ["Pragma", "no-cache"],
        ["Expires", "0"],
      ),
    },
  }),
  row({
    id: "etag",
    statuses: allStatuses,
    minimal: "none",
    others: {
      // Equal only for equal bytes (RFC 9110, 8.8.1).
      strong: {
        changeHeaders: (headers, _random, text) => withHeaders(headers, [["ETag", `"${digestOf(text)}"`]]),
      },
      weak: moreHeaders(["ETag", 'W/"5f3b9a"']),
    },
  }),
  row({
    id: "content_length",
    statuses: allStatuses,
    minimal: "exact",
    others: { chunked: withoutHeader("Content-Length") },
  }),
  row({
    id: "vary",
    statuses: allStatuses,
    minimal: "none",
    others: {
      encoding: moreHeaders(["Vary", "Accept-Encoding"]),
      twice: moreHeaders(["Vary", "Origin"], ["Vary", "Accept-Encoding"]),
    },
  }),
  row({
    id: "server",
    statuses: allStatuses,
    minimal: "none",
    others: {
      proxy: moreHeaders(["Server", "nginx"]),
      framework: moreHeaders(["Server", "gunicorn/22.0.0 (Linux)"], ["X-Powered-By", "relying-party"]),
    },
  }),
  row({
    id: "via",
    statuses: allStatuses,
    minimal: "none",
    others: {
      gateway: moreHeaders(["Via", "1.1 gateway"]),
      two: moreHeaders(["Via", "2 edge, 1.1 gateway (x)"]),
    },
  }),
  row({
    id: "security_headers",
    statuses: allStatuses,
    minimal: "none",
    others: {
      // With a lifetime above zero, browsers would reject plain HTTP on the developer's machine.
      transport: moreHeaders(["Strict-Transport-Security", "max-age=0"]),
      sniffing: moreHeaders(
        ["X-Content-Type-Options", "nosniff"],
        ["X-Frame-Options", "DENY"],
        ["Content-Security-Policy", "default-src 'none'"],
      ),
    },
  }),
  row({
    id: "unknown_headers",
    statuses: allStatuses,
    minimal: "none",
    others: {
      timing: moreHeaders(["Server-Timing", 'gate;dur=0.4, total;dur=1.2;desc="all"']),
      odd: moreHeaders(["X_Upstream.Name", "rp=1; path=/"]),
      empty: moreHeaders(["X-Debug", ""]),
    },
  }),
  row({
    id: "header_order",
    statuses: allStatuses,
    minimal: "as_set",
    others: {
      reversed: headerOrder(reversed),
      sorted: headerOrder(sorted),
      shuffled: headerOrder(shuffled),
    },
  }),
  row({
    id: "header_casing",
    statuses: allStatuses,
    minimal: "usual",
    others: {
      lower: headerNames((name) => name.toLowerCase()),
      upper: headerNames((name) => name.toUpperCase()),
      first_letter: headerNames((name) => name.slice(0, 1) + name.slice(1).toLowerCase()),
    },
  }),
];

function digestOf(text: string): string {
  return base62From(randomStream(0, "etag", text), 22);
}

function moreHeaders(...added: readonly Header[]): VariantMembers {
  return { changeHeaders: (headers) => withHeaders(headers, added) };
}

/** The headers of a response with more headers. A header that the response already has is not added again. */
function withHeaders(headers: readonly Header[], added: readonly Header[]): readonly Header[] {
  const namesSoFar = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...headers, ...added.filter(([name]) => !namesSoFar.has(name.toLowerCase()))];
}

/** Another value of a header, if the response has it. */
export function rewrittenHeader(wanted: string, rewrite: (value: string) => string): VariantMembers {
  return {
    changeHeaders: (headers) =>
      headers.map(([name, value]) => [name, name === wanted ? rewrite(value) : value]),
  };
}

function withoutHeader(unwanted: string): VariantMembers {
  return { changeHeaders: (headers) => headers.filter(([name]) => name !== unwanted) };
}

function headerNames(spell: (name: string) => string): VariantMembers {
  return { changeHeaders: (headers) => headers.map(([name, value]) => [spell(name), value]) };
}

function headerOrder(arrange: Arrange): VariantMembers {
  return { changeHeaders: (headers, random) => arrange(headers, random) };
}
