// Which form of each row of the variation table an answer has: what a client sees that makes one mistake in reading it.
// As JavaScript, since planted clients are programs of their own.

const header = ({ headers }, name) => headers.find(([one]) => one.toLowerCase() === name)?.[1];
const headerNames = ({ headers }) => headers.map(([name]) => name.toLowerCase());
const data = ({ text }) => JSON.parse(text).data;
const error = ({ text }) => JSON.parse(text).error;
const first = (found, otherwise) => Object.keys(found).find((form) => found[form]) ?? otherwise;
const has = (member) => member !== undefined;
const isIn = (value, order) => JSON.stringify(value) === JSON.stringify(order);

const documented = ["organization", "environment", "scopes", "limits", "usage"];
const sentHeaders = ["content-type", "x-request-id", "content-length"];
const named = /^(?:attestations:read|other:read)$/;

/** By row, as `row: [the status that it is looked for on, the form that an answer has]`. */
export const traits = {
  rate_limit_code: [429, (answer) => error(answer).code],
  request_id_on_errors: [401, (answer) => (has(header(answer, "x-request-id")) ? "present" : "absent")],
  error_details: [
    429,
    (answer) => {
      const { details } = error(answer);
      if (details === undefined) return "absent";
      return first({ empty: isIn(details, {}), something_else: has(details.domain) }, "what_was_refused");
    },
  ],
  retry_after: [
    429,
    (answer) => {
      const value = header(answer, "retry-after");
      return value === undefined ? "none" : /^\d+$/.test(value) ? "seconds" : "date";
    },
  ],
  rate_limit_headers: [
    200,
    (answer) =>
      first(
        { draft: has(header(answer, "ratelimit")), legacy: has(header(answer, "x-ratelimit-limit")) },
        "none",
      ),
  ],
  www_authenticate: [
    401,
    (answer) => {
      const value = header(answer, "www-authenticate");
      return value === undefined ? "absent" : value === "ApiKey" ? "bare" : "api_key";
    },
  ],
  request_id_form: [
    200,
    (answer) => {
      const id = header(answer, "x-request-id");
      const forms = {
        uuid: /^\w{8}-\w{4}-/,
        trace: /^\w{32}$/,
        dated: /^1-/,
        number: /^\d{1,10}$/,
        opaque: /:/,
      };
      if (id.length === 200) return "long";
      return Object.keys(forms).find((form) => forms[form].test(id)) ?? "prefixed";
    },
  ],
  data_members: [
    200,
    (answer) => {
      const { region, contact, support, feature_1 } = data(answer);
      return first(
        { text: has(region), nothing: has(contact), nested: has(support), many: has(feature_1) },
        "none",
      );
    },
  ],
  limits_members: [
    200,
    (answer) => {
      const { per_hour, per_month, burst } = data(answer).limits;
      return first({ another_window: has(per_hour), unlimited: has(per_month), burst: has(burst) }, "none");
    },
  ],
  usage_members: [
    200,
    (answer) => {
      const { this_month, counted_since, by_endpoint } = data(answer).usage;
      return first(
        { another_window: has(this_month), time: has(counted_since), by_endpoint: has(by_endpoint) },
        "none",
      );
    },
  ],
  scope_order: [
    200,
    (answer) => {
      const { scopes } = data(answer);
      const isSorted = scopes.length > 2 && isIn(scopes, [...scopes].sort());
      return first({ reversed: !named.test(scopes[0]), sorted: isSorted }, "as_granted");
    },
  ],
  error_members: [
    401,
    (answer) => {
      const { type, status, links } = error(answer);
      return first({ type: has(type), status: has(status), nested: has(links) }, "none");
    },
  ],
  details_without_reason: [
    401,
    (answer) => {
      const { details } = error(answer);
      return details === undefined ? "absent" : has(details.help) ? "help" : "empty";
    },
  ],
  message: [
    401,
    (answer) => {
      const { message } = error(answer);
      return first(
        {
          reason_phrase: message === "Unauthorized",
          other_words: message.startsWith("Your request"),
          empty: message === "",
          other_language: message.startsWith("Die"),
          lines: message.includes("\n"),
          markup: message.includes("<p>"),
          long: message.length > 1_000,
        },
        "a_sentence",
      );
    },
  ],
  member_order: [
    200,
    (answer) => {
      const names = Object.keys(data(answer)).filter((name) => documented.includes(name));
      const forms = { reversed: [...documented].reverse(), sorted: [...documented].sort() };
      return first(
        {
          as_documented: isIn(names, documented),
          reversed: isIn(names, forms.reversed),
          sorted: isIn(names, forms.sorted),
        },
        "shuffled",
      );
    },
  ],
  whitespace: [
    200,
    ({ text }) =>
      first(
        {
          leading: text.startsWith("\r"),
          line_ending: text.endsWith("\n"),
          tabs: text.includes("\n\t"),
          indented: text.includes("\n "),
          spaced: text.includes('": {'),
        },
        "compact",
      ),
  ],
  // Not on a 200, in which nothing has a slash.
  escapes: [
    401,
    ({ text }) =>
      first(
        {
          slashes: text.includes("\\/"),
          not_ascii: /\\u(?:00[89a-f]|0[1-9a-f]|[1-9a-f])/.test(text),
          html: /\\u00[23]/.test(text),
          first_letters: /\\u00[67]/.test(text),
        },
        "few",
      ),
  ],
  content_type: [
    200,
    (answer) =>
      ({
        "application/json": "bare",
        "application/json; charset=utf-8": "charset",
        "application/json;charset=UTF-8": "no_space",
        'application/json; charset="utf-8"': "quoted",
        "application/json ; charset=utf-8": "space_before",
      })[header(answer, "content-type")],
  ],
  allow: [
    405,
    (answer) =>
      first(
        {
          reversed: header(answer, "allow").startsWith("HEAD"),
          no_space: !header(answer, "allow").includes(" "),
        },
        "as_documented",
      ),
  ],
  cache_control: [
    200,
    (answer) =>
      first(
        {
          old_caches: has(header(answer, "pragma")),
          no_store: header(answer, "cache-control") === "no-store",
          private: has(header(answer, "cache-control")),
        },
        "none",
      ),
  ],
  vary: [
    200,
    (answer) =>
      first(
        {
          twice: headerNames(answer).filter((name) => name === "vary").length === 2,
          encoding: has(header(answer, "vary")),
        },
        "none",
      ),
  ],
  server: [
    200,
    (answer) =>
      first({ framework: has(header(answer, "x-powered-by")), proxy: has(header(answer, "server")) }, "none"),
  ],
  via: [
    200,
    (answer) =>
      first({ two: header(answer, "via")?.includes(","), gateway: has(header(answer, "via")) }, "none"),
  ],
  security_headers: [
    200,
    (answer) =>
      first(
        {
          transport: has(header(answer, "strict-transport-security")),
          sniffing: has(header(answer, "x-frame-options")),
        },
        "none",
      ),
  ],
  unknown_headers: [
    200,
    (answer) =>
      first(
        {
          timing: has(header(answer, "server-timing")),
          odd: has(header(answer, "x_upstream.name")),
          empty: has(header(answer, "x-debug")),
        },
        "none",
      ),
  ],
  header_order: [
    200,
    (answer) => {
      const names = headerNames(answer).filter((name) => sentHeaders.includes(name));
      return first(
        {
          as_set: isIn(names, sentHeaders),
          reversed: isIn(names, [...sentHeaders].reverse()),
          sorted: isIn(names, [...sentHeaders].sort()),
        },
        "shuffled",
      );
    },
  ],
  header_casing: [
    200,
    ({ headers }) => {
      const names = headers.map(([name]) => name);
      return first(
        {
          lower: names.includes("content-type"),
          upper: names.includes("CONTENT-TYPE"),
          first_letter: names.includes("Content-type"),
        },
        "usual",
      );
    },
  ],
  "key.limits": [
    200,
    (answer) => ({ 75: "some", 90: "half", 120: "twice" })[data(answer).limits.per_minute] ?? "none",
  ],
  "key.granted_scopes": [
    200,
    (answer) => {
      const unnamed = data(answer).scopes.filter((scope) => !named.test(scope)).length;
      return unnamed === 0 ? "none" : unnamed === 1 ? "one" : "several";
    },
  ],
  "organization.name_ending": [
    200,
    (answer) => {
      const { name } = data(answer).organization;
      return first(
        {
          long: name.length > 200,
          markup: name.includes("<b>"),
          beyond_16_bits: /\p{Extended_Pictographic}/u.test(name),
          other_scripts: /\p{Script=Arabic}/u.test(name),
          decomposed: /\p{Mark}/u.test(name),
          accents: /\p{Letter}/u.test(name.replace(/\p{ASCII}/gu, "")),
        },
        "none",
      );
    },
  ],
};

/** Whether an answer has a trait, given as `row:variant`. */
export function hasTrait(trait, answer) {
  const [row, variant] = trait.split(":");
  const [status, formOf] = traits[row];
  return answer.status === status && formOf(answer) === variant;
}
