import { arranged, type MemberOrder } from "./member-order.js";
import { anyStatus, type Variant, type VariationRow } from "./row.js";

const none = (why: string): Variant => ({ id: "none", why });

function adding(id: string, added: readonly (readonly [string, string])[], why: string): Variant {
  return {
    id,
    why,
    change({ headers }) {
      for (const [name, value] of added) headers.push([name, value]);
    },
  };
}

function setting(id: string, name: string, value: string, why: string): Variant {
  return {
    id,
    why,
    change({ headers }) {
      for (const header of headers) if (header[0] === name) header[1] = value;
    },
  };
}

function ordered(id: MemberOrder, why: string): Variant {
  return {
    id,
    why,
    change(draft, draw) {
      draft.headers = arranged(draft.headers, id, draw);
    },
  };
}

function cased(id: string, spell: (name: string) => string, why: string): Variant {
  return {
    id,
    why,
    change({ headers }) {
      for (const header of headers) header[0] = spell(header[0]);
    },
  };
}

/** The rows of the headers. */
export const headerRows: readonly VariationRow[] = [
  {
    id: "content_type",
    gap: "Whether Content-Type has parameters is not stated; the media type stays application/json.",
    statuses: anyStatus,
    variants: [
      { id: "bare", why: "JSON is UTF-8, so that nothing is left to say." },
      setting("charset", "Content-Type", "application/json; charset=utf-8", "What most frameworks send."),
      setting("no_space", "Content-Type", "application/json;charset=UTF-8", "What some servers send."),
      setting("quoted", "Content-Type", 'application/json; charset="utf-8"', "A parameter may be quoted."),
      setting(
        "space_before",
        "Content-Type",
        "application/json ; charset=utf-8",
        "Space is allowed on both sides.",
      ),
    ],
  },
  {
    id: "allow",
    gap: "What a wrong method gets is not stated; HTTP asks for the list, not for its order.",
    statuses: [405],
    variants: [
      { id: "as_documented", why: "The order of the description." },
      rewriting("reversed", (methods) => methods.reverse().join(", "), "The order of a hash table."),
      rewriting("no_space", (methods) => methods.join(","), "The space after a comma may be missing."),
    ],
  },
  {
    id: "cache_control",
    gap: "Caching is not spoken of.",
    statuses: anyStatus,
    variants: [
      none("Nobody thought of it."),
      adding("no_store", [["Cache-Control", "no-store"]], "The answer is about a credential."),
      adding(
        "private",
        [["Cache-Control", "private, max-age=0, must-revalidate"]],
        "A default of many frameworks.",
      ),
      adding(
        "old_caches",
        [
          ["Cache-Control", "no-cache, no-store"],
          ["Pragma", "no-cache"],
          ["Expires", "0"],
        ],
        "Caches of the last century are thought of.",
      ),
    ],
  },
  {
    id: "vary",
    gap: "Content negotiation is not spoken of.",
    statuses: anyStatus,
    variants: [
      none("There is one form."),
      adding("encoding", [["Vary", "Accept-Encoding"]], "Something in front compresses large answers."),
      adding(
        "twice",
        [
          ["Vary", "Origin"],
          ["Vary", "Accept-Encoding"],
        ],
        "Two layers add to it, each on a line of its own.",
      ),
    ],
  },
  {
    id: "server",
    gap: "What answers is not said.",
    statuses: anyStatus,
    variants: [
      none("Nobody needs to know."),
      adding("proxy", [["Server", "nginx"]], "A proxy names itself."),
      adding(
        "framework",
        [
          ["Server", "gunicorn/22.0.0 (Linux)"],
          ["X-Powered-By", "relying-party"],
        ],
        "The application names itself.",
      ),
    ],
  },
  {
    id: "via",
    gap: "What lies between is not said.",
    statuses: anyStatus,
    variants: [
      none("Nothing."),
      adding("gateway", [["Via", "1.1 gateway"]], "A gateway."),
      adding("two", [["Via", "2 edge, 1.1 gateway (x)"]], "A delivery network and a gateway."),
    ],
  },
  {
    id: "security_headers",
    gap: "Headers for browsers are not spoken of.",
    statuses: anyStatus,
    variants: [
      none("No browser calls the API."),
      // A lifetime above zero would make browsers refuse plain HTTP on the developer's own machine.
      adding("transport", [["Strict-Transport-Security", "max-age=0"]], "Set for a whole domain."),
      adding(
        "sniffing",
        [
          ["X-Content-Type-Options", "nosniff"],
          ["X-Frame-Options", "DENY"],
          ["Content-Security-Policy", "default-src 'none'"],
        ],
        "A middleware sets all that there are.",
      ),
    ],
  },
  {
    id: "unknown_headers",
    gap: "Whether there are further headers is not stated.",
    statuses: anyStatus,
    variants: [
      none("There are none."),
      adding(
        "timing",
        [["Server-Timing", 'gate;dur=0.4, total;dur=1.2;desc="all"']],
        "For whoever tunes it.",
      ),
      adding("odd", [["X_Upstream.Name", "rp=1; path=/"]], "Names may have any letters that HTTP allows."),
      adding("empty", [["X-Debug", ""]], "A value that was not filled in."),
    ],
  },
  {
    id: "header_order",
    gap: "The order of header fields of different names has no meaning (RFC 9110).",
    statuses: anyStatus,
    variants: [
      { id: "as_set", why: "Fields are sent as they were set." },
      ordered("reversed", "The last one set is the first one sent."),
      ordered("sorted", "A proxy sorts them."),
      ordered("shuffled", "A proxy keeps them in a hash table."),
    ],
  },
  {
    id: "header_casing",
    gap: "Names of header fields have no case (RFC 9110).",
    statuses: anyStatus,
    variants: [
      { id: "usual", why: "As standards write them." },
      cased("lower", (name) => name.toLowerCase(), "HTTP/2 has no other, and gateways keep it."),
      cased("upper", (name) => name.toUpperCase(), "An old gateway."),
      cased("first_letter", (name) => name.slice(0, 1) + name.slice(1).toLowerCase(), "A careless one."),
    ],
  },
];

function rewriting(id: string, write: (methods: string[]) => string, why: string): Variant {
  return {
    id,
    why,
    change({ headers }) {
      for (const header of headers) if (header[0] === "Allow") header[1] = write(header[1].split(", "));
    },
  };
}
