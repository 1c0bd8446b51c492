// Which form of each row of the variation table a response has: what a client sees that makes one mistake in reading it.
// As JavaScript, since planted clients are programs of their own.

const has = (member) => member !== undefined;
const isIn = (value, order) => JSON.stringify(value) === JSON.stringify(order);

/** What a client reads of a response. */
function reading({ text, headers }) {
  return {
    text,
    headers,
    names: headers.map(([name]) => name.toLowerCase()),
    header: (name) => headers.find(([one]) => one.toLowerCase() === name)?.[1],
    get data() {
      return JSON.parse(text).data;
    },
    get error() {
      return JSON.parse(text).error;
    },
  };
}

/** A row that is looked for on a status: its first form that a response has, or else another one. */
const row = (status, otherwise, formsOf) => [
  status,
  (response) => {
    const forms = formsOf(reading(response));
    return Object.keys(forms).find((form) => forms[form]) ?? otherwise;
  },
];
/** A row whose form a response names itself. */
const named = (status, formOf) => [status, (response) => formOf(reading(response))];

const documented = ["organization", "environment", "scopes", "limits", "usage"];
const sentHeaders = ["content-type", "x-request-id", "content-length"];
const known = /^(?:attestations:read|other:read)$/;
const contentTypes = {
  "application/json": "bare",
  "application/json; charset=utf-8": "charset",
  "application/json;charset=UTF-8": "no_space",
  'application/json; charset="utf-8"': "quoted",
  "application/json ; charset=utf-8": "space_before",
};

/** By row, as `row: [the status that it is looked for on, the form that a response has]`. */
export const traits = {
  rate_limit_code: named(429, ({ error }) => error.code),
  request_id_on_errors: row(401, "absent", ({ header }) => ({ present: has(header("x-request-id")) })),
  error_details: row(429, "what_was_rejected", ({ error: { details } }) => ({
    absent: !has(details),
    empty: isIn(details, {}),
    something_else: has(details?.domain),
  })),
  retry_after: row(429, "date", ({ header }) => ({
    none: !has(header("retry-after")),
    seconds: /^\d+$/.test(header("retry-after")),
  })),
  rate_limit_headers: row(200, "none", ({ header }) => ({
    draft: has(header("ratelimit")),
    legacy: has(header("x-ratelimit-limit")),
  })),
  www_authenticate: row(401, "api_key", ({ header }) => ({
    absent: !has(header("www-authenticate")),
    bare: header("www-authenticate") === "ApiKey",
  })),
  request_id_form: row(200, "prefixed", ({ header }) => {
    const id = header("x-request-id");
    return {
      long: id.length === 200,
      uuid: /^\w{8}-\w{4}-/.test(id),
      trace: /^\w{32}$/.test(id),
      dated: /^1-/.test(id),
      number: /^\d{1,10}$/.test(id),
      opaque: /:/.test(id),
    };
  }),
  data_members: row(200, "none", ({ data: { region, contact, support, feature_1 } }) => ({
    text: has(region),
    nothing: has(contact),
    nested: has(support),
    many: has(feature_1),
  })),
  limits_members: row(200, "none", ({ data: { limits } }) => ({
    another_window: has(limits.per_hour),
    unlimited: has(limits.per_month),
    burst: has(limits.burst),
  })),
  usage_members: row(200, "none", ({ data: { usage } }) => ({
    another_window: has(usage.this_month),
    time: has(usage.counted_since),
    by_endpoint: has(usage.by_endpoint),
  })),
  scope_order: row(200, "as_granted", ({ data: { scopes } }) => ({
    reversed: !known.test(scopes[0]),
    sorted: scopes.length > 2 && isIn(scopes, [...scopes].sort()),
  })),
  error_members: row(401, "none", ({ error: { type, status, links } }) => ({
    type: has(type),
    status: has(status),
    nested: has(links),
  })),
  details_without_reason: row(401, "empty", ({ error: { details } }) => ({
    absent: !has(details),
    help: has(details?.help),
  })),
  message: row(401, "a_sentence", ({ error: { message } }) => ({
    reason_phrase: message === "Unauthorized",
    other_words: message.startsWith("Your request"),
    empty: message === "",
    other_language: message.startsWith("Die"),
    lines: message.includes("\n"),
    markup: message.includes("<p>"),
    long: message.length > 1_000,
  })),
  member_order: row(200, "shuffled", ({ data }) => {
    const names = Object.keys(data).filter((name) => documented.includes(name));
    return {
      as_documented: isIn(names, documented),
      reversed: isIn(names, [...documented].reverse()),
      sorted: isIn(names, [...documented].sort()),
    };
  }),
  whitespace: row(200, "compact", ({ text }) => ({
    leading: text.startsWith("\r"),
    line_ending: text.endsWith("\n"),
    tabs: text.includes("\n\t"),
    indented: text.includes("\n "),
    spaced: text.includes('": {'),
  })),
  // Not on a 200, in which nothing has a slash.
  escapes: row(401, "few", ({ text }) => ({
    slashes: text.includes("\\/"),
    not_ascii: /\\u(?:00[89a-f]|0[1-9a-f]|[1-9a-f])/.test(text),
    html: /\\u00[23]/.test(text),
    first_letters: /\\u00[67]/.test(text),
  })),
  content_type: named(200, ({ header }) => contentTypes[header("content-type")]),
  allow: row(405, "as_documented", ({ header }) => ({
    reversed: header("allow").startsWith("HEAD"),
    no_space: !header("allow").includes(" "),
  })),
  cache_control: row(200, "none", ({ header }) => ({
    old_caches: has(header("pragma")),
    no_store: header("cache-control") === "no-store",
    private: has(header("cache-control")),
  })),
  vary: row(200, "none", ({ header, names }) => ({
    twice: names.filter((name) => name === "vary").length === 2,
    encoding: has(header("vary")),
  })),
  server: row(200, "none", ({ header }) => ({
    framework: has(header("x-powered-by")),
    proxy: has(header("server")),
  })),
  via: row(200, "none", ({ header }) => ({
    two: header("via")?.includes(","),
    gateway: has(header("via")),
  })),
  etag: row(200, "none", ({ header }) => ({
    weak: header("etag")?.startsWith("W/"),
    strong: has(header("etag")),
  })),
  content_length: row(200, "exact", ({ header }) => ({ chunked: !has(header("content-length")) })),
  security_headers: row(200, "none", ({ header }) => ({
    transport: has(header("strict-transport-security")),
    sniffing: has(header("x-frame-options")),
  })),
  unknown_headers: row(200, "none", ({ header }) => ({
    timing: has(header("server-timing")),
    odd: has(header("x_upstream.name")),
    empty: has(header("x-debug")),
  })),
  header_order: row(200, "shuffled", ({ names }) => {
    const sent = names.filter((name) => sentHeaders.includes(name));
    const usual = sentHeaders.filter((name) => names.includes(name));
    return {
      as_set: isIn(sent, usual),
      reversed: isIn(sent, [...usual].reverse()),
      sorted: isIn(sent, [...usual].sort()),
    };
  }),
  header_casing: row(200, "usual", ({ headers }) => {
    const isSent = (word) => headers.some(([name]) => name === word);
    return {
      lower: isSent("content-type"),
      upper: isSent("CONTENT-TYPE"),
      first_letter: isSent("Content-type"),
    };
  }),
  "key.limits": named(
    200,
    ({ data: { limits } }) =>
      ({ 1250: "some", 1500: "half", 2000: "twice", 100000: "beyond_16_bits" })[limits.per_day] ?? "none",
  ),
  "key.granted_scopes": named(200, ({ data: { scopes } }) => {
    const unnamed = scopes.filter((scope) => !known.test(scope)).length;
    return ["none", "one"][unnamed] ?? "several";
  }),
  "organization.name_ending": row(200, "none", ({ data: { organization } }) => {
    const { name } = organization;
    return {
      long: name.length > 200,
      markup: name.includes("<b>"),
      beyond_16_bits: /\p{Extended_Pictographic}/u.test(name),
      other_scripts: /\p{Script=Arabic}/u.test(name),
      decomposed: /\p{Mark}/u.test(name),
      accents: /\p{Letter}/u.test(name.replace(/\p{ASCII}/gu, "")),
    };
  }),
};

/** Whether a response has a trait, given as `row:variant`. */
export function hasTrait(trait, response) {
  const [name, variant] = trait.split(":");
  const [status, formOf] = traits[name];
  return response.status === status && formOf(response) === variant;
}
