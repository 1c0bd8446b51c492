import { base62From, randomStream } from "../../rules/seed.js";
import {
  type Arrange,
  allStatuses,
  type Header,
  reversed,
  shuffled,
  sorted,
  type VariantMembers,
  type VariationRow,
  variationRow,
} from "./row.js";

/** The rows of headers, whose order and spelling come last. */
export const headerRows: readonly VariationRow[] = [
  variationRow({
    id: "content_type",
    statuses: allStatuses,
    minimal: "bare",
    otherVariants: {
      charset: rewrittenHeader("Content-Type", () => "application/json; charset=utf-8"),
      no_space: rewrittenHeader("Content-Type", () => "application/json;charset=UTF-8"),
      quoted: rewrittenHeader("Content-Type", () => 'application/json; charset="utf-8"'),
      space_before: rewrittenHeader("Content-Type", () => "application/json ; charset=utf-8"),
    },
  }),
  variationRow({
    id: "allow",
    statuses: [405],
    minimal: "as_documented",
    otherVariants: {
      reversed: rewrittenHeader("Allow", (methods) => methods.split(", ").reverse().join(", ")),
      no_space: rewrittenHeader("Allow", (methods) => methods.replaceAll(", ", ",")),
    },
  }),
  variationRow({
    id: "cache_control",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      no_store: moreHeaders(["Cache-Control", "no-store"]),
      private: moreHeaders(["Cache-Control", "private, max-age=0, must-revalidate"]),
      old_caches: moreHeaders(
        ["Cache-Control", "no-cache, no-store"],
        ["Pragma", "no-cache"],
        ["Expires", "0"],
      ),
    },
  }),
  variationRow({
    id: "etag",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      // Equal only for equal bytes (RFC 9110, 8.8.1).
      strong: {
        changeHeaders: (headers, _random, text) => withHeaders(headers, [["ETag", `"${digestOf(text)}"`]]),
      },
      weak: moreHeaders(["ETag", 'W/"5f3b9a"']),
    },
  }),
  variationRow({
    id: "content_length",
    statuses: allStatuses,
    minimal: "exact",
    otherVariants: { chunked: withoutHeader("Content-Length") },
  }),
  variationRow({
    id: "vary",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      encoding: moreHeaders(["Vary", "Accept-Encoding"]),
      twice: moreHeaders(["Vary", "Origin"], ["Vary", "Accept-Encoding"]),
    },
  }),
  variationRow({
    id: "server",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      proxy: moreHeaders(["Server", "nginx"]),
      framework: moreHeaders(["Server", "gunicorn/22.0.0 (Linux)"], ["X-Powered-By", "relying-party"]),
    },
  }),
  variationRow({
    id: "via",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      gateway: moreHeaders(["Via", "1.1 gateway"]),
      two: moreHeaders(["Via", "2 edge, 1.1 gateway (x)"]),
    },
  }),
  variationRow({
    id: "security_headers",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      // With a lifetime above zero, browsers would reject plain HTTP on the developer's machine.
      transport: moreHeaders(["Strict-Transport-Security", "max-age=0"]),
      sniffing: moreHeaders(
        ["X-Content-Type-Options", "nosniff"],
        ["X-Frame-Options", "DENY"],
        ["Content-Security-Policy", "default-src 'none'"],
      ),
    },
  }),
  variationRow({
    id: "unknown_headers",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      timing: moreHeaders(["Server-Timing", 'gate;dur=0.4, total;dur=1.2;desc="all"']),
      odd: moreHeaders(["X_Upstream.Name", "rp=1; path=/"]),
      empty: moreHeaders(["X-Debug", ""]),
    },
  }),
  variationRow({
    id: "header_order",
    statuses: allStatuses,
    minimal: "as_set",
    otherVariants: {
      reversed: headerOrder(reversed),
      sorted: headerOrder(sorted),
      shuffled: headerOrder(shuffled),
    },
  }),
  variationRow({
    id: "header_casing",
    statuses: allStatuses,
    minimal: "usual",
    otherVariants: {
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
