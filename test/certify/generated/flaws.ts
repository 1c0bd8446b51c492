import type { FaultOutcomeId } from "../../../src/rules/fault-effects.js";
import { type Body, type Client, type Reply, retryAfter, Unexpected } from "./client.js";
import { keys, type Suite } from "./suite.js";

/** What a certificate names: a row of the variation table, or the name of a run, or the start of it. */
export type Cause = `row ${string}` | FaultOutcomeId | `resend.${string}` | `answer.${string}` | "plain";

/** A mistake of a client, or of its tests. */
export interface Flaw {
  readonly does: string;
  /** Each of them names it. */
  readonly causes: readonly Cause[];
  /** Whether a check that is not judged names it: no run can show it. */
  readonly isStated?: true;
  readonly client?: Partial<Client>;
  readonly suite?: (suite: Suite) => Partial<Suite>;
}

/** Returns the suite with a flaw. Its own settings leave it: with a flaw, they could fail its first run, which nobody certifies. */
export function withFlaw({ profile, ...suite }: Suite, { causes, client, suite: change }: Flaw): Suite {
  // A client that does not wait for a response hides how it ends.
  const { hedgeMs: __, readsAgain, ...others } = suite.client;
  // Who sends a request again for any reason has none of the other flaws.
  const isOfReading = causes.every((cause) => cause.startsWith("row "));
  return {
    ...suite,
    // A profile was set by a reset, on which a test of a limit may rely.
    resets: suite.resets || profile !== undefined,
    ...change?.(suite),
    client: { ...others, ...client, readsAgain: readsAgain && isOfReading },
  };
}

/** Returns the suite with two flaws, of which the first is how it reads a response. */
export function withFlaws(suite: Suite, reading: Flaw, other: Flaw): Suite {
  const [first, second] = [withFlaw(suite, reading), withFlaw(withFlaw(suite, reading), other)];
  const look: Client["look"] = (...response) => {
    first.client.look(...response);
    second.client.look(...response);
  };
  return { ...second, client: { ...second.client, look } };
}

const fail = (what: unknown): never => {
  throw new Unexpected(String(what));
};
const same = (value: unknown, expected: unknown) =>
  value === expected || fail(`${value} instead of ${expected}`);
const has = (value: unknown, what: string) => value !== undefined || fail(`no ${what}`);
const lacks = (value: unknown, what: string) => value === undefined || fail(what);
const onlyMembers = (object: object, ...names: string[]) => {
  for (const name of Object.keys(object)) names.includes(name) || fail(`unknown ${name}`);
};

/** A client that looks too closely at a response; `rows` of the variation table name it, the plain run, or a resend if it reads again what it cannot read. */
const looks = (does: string, rows: readonly string[], look: (reply: Reply, body: Body) => unknown): Flaw => ({
  does,
  causes: rows.map((row) => (row === "plain" || row === "resend.429" ? row : (`row ${row}` as const))),
  client: { look: (reply, body) => void look(reply, body) },
});

/** How clients read a response in a way that the specification does not promise. */
export const ofReading: readonly Flaw[] = [
  looks("compares the whole Content-Type", ["content_type"], ({ header }) =>
    same(header("content-type"), "application/json"),
  ),
  looks("looks for Content-Type in this case", ["header_casing"], ({ headers }) =>
    has(
      headers.find(([name]) => name === "Content-Type"),
      "Content-Type",
    ),
  ),
  looks("expects Content-Type before Content-Length", ["header_order"], ({ headers }) => {
    const names = headers.map(([name]) => name.toLowerCase());
    const [type, length] = [names.indexOf("content-type"), names.indexOf("content-length")];
    if (length >= 0 && length < type) fail("another order of headers");
  }),
  looks(
    "expects the organization first",
    ["member_order"],
    (_, { data }) => data && same(Object.keys(data)[0], "organization"),
  ),
  looks("reads the limits by their order", ["member_order", "limits_members"], (_, { data }) => {
    const [perMinute = 0, perDay = 0] = data ? (Object.values(data.limits) as number[]) : [];
    if (!(perMinute <= perDay)) fail("limits in another order");
  }),
  looks(
    "reads the body without a parser for JSON",
    ["whitespace", "member_order", "escapes"],
    ({ text }) => /^\{"(?:data|error)":\{/.test(text) || fail("another body"),
  ),
  looks(
    "expects the body to end with its last brace",
    ["whitespace"],
    ({ text }) => text.endsWith("}") || fail("another end"),
  ),
  looks(
    "finds the code in the text of the body",
    ["whitespace", "escapes"],
    ({ status, text }) => status === 401 && (text.includes('"code":"unauthorized"') || fail("no code")),
  ),
  looks(
    "reads 420 characters of a body",
    ["body_length", "organization.name_ending", "key.granted_scopes", "error_details", "message"],
    ({ text }) => text.length <= 420 || fail("a long body"),
  ),
  looks(
    "compares the message of a 401",
    ["message"],
    ({ status }, { error }) => status === 401 && same(error.message, "A valid API key is required."),
  ),
  looks(
    "shows a message of at most 200 characters",
    ["message"],
    (_, { error }) => error && (error.message.length <= 200 || fail("a long message")),
  ),
  looks(
    "compares the code of a 429",
    ["rate_limit_code"],
    ({ status }, { error }) => status === 429 && same(error.code, "rate_limited"),
  ),
  looks(
    "requires the code of a 429 in lower case",
    ["rate_limit_code"],
    ({ status }, { error }) => status === 429 && (/^[a-z_]+$/.test(error.code) || fail(error.code)),
  ),
  looks(
    "assumes the scopes of its key",
    ["key.granted_scopes", "scope_order"],
    ({ status }, { data }) => status === 200 && same(data.scopes.join(), "attestations:read"),
  ),
  looks(
    "rejects unknown members of data",
    ["data_members"],
    (_, { data }) => data && onlyMembers(data, "organization", "environment", "scopes", "limits", "usage"),
  ),
  looks(
    "rejects unknown members of limits",
    ["limits_members"],
    (_, { data }) => data && onlyMembers(data.limits, "per_minute", "per_day"),
  ),
  looks(
    "rejects unknown members of usage",
    ["usage_members"],
    (_, { data }) => data && onlyMembers(data.usage, "today"),
  ),
  looks(
    "rejects unknown members of an error",
    ["error_members", "error_details"],
    (_, { error }) => error && onlyMembers(error, "code", "message"),
  ),
  looks(
    "rejects the details of a 403",
    ["error_details"],
    ({ status }, { error }) => status === 403 && lacks(error.details, "details"),
  ),
  looks(
    "rejects the details of a 401",
    ["error_details"],
    ({ status }, { error }) => status === 401 && lacks(error.details, "details"),
  ),
  looks(
    "requires the details of a 403",
    ["plain"],
    ({ status }, { error }) => status === 403 && has(error.details, "details"),
  ),
  looks(
    "requires a challenge on a 401",
    ["plain"],
    ({ status, header }) => status === 401 && has(header("www-authenticate"), "challenge"),
  ),
  looks(
    "rejects a challenge on a 401",
    ["www_authenticate"],
    ({ status, header }) => status === 401 && lacks(header("www-authenticate"), "a challenge"),
  ),
  looks(
    "requires a request id on each error",
    ["plain"],
    ({ status, header }) => status >= 400 && has(header("x-request-id"), "id"),
  ),
  looks(
    "requires Retry-After on a 429",
    ["plain"],
    ({ status, header }) => status === 429 && has(header("retry-after"), "Retry-After"),
  ),
  looks("rejects rate-limit headers", ["rate_limit_headers"], ({ headers }) =>
    lacks(
      headers.find(([name]) => /ratelimit/i.test(name)),
      "a rate-limit header",
    ),
  ),
  looks(
    "expects its own form of request ids",
    ["request_id_form"],
    ({ status, header }) =>
      status === 200 && (/^req_/.test(header("x-request-id") ?? "") || fail("another id")),
  ),
  looks(
    "stores request ids of 64 characters",
    ["request_id_form", "request_id_on_errors"],
    ({ header }) => (header("x-request-id")?.length ?? 0) <= 64 || fail("a long id"),
  ),
  looks(
    "stores names of organizations in ASCII",
    ["organization.name_ending"],
    (_, { data }) => data && (/^[\x20-\x7e]*$/.test(data.organization.name) || fail("another name")),
  ),
  looks("requires a Content-Length", ["content_length"], ({ header }) =>
    has(header("content-length"), "Content-Length"),
  ),
  looks("rejects a response of a proxy", ["via", "server"], ({ header }) =>
    lacks(header("via") ?? header("server"), "a proxy"),
  ),
  looks("rejects caching headers", ["cache_control"], ({ header }) =>
    lacks(header("cache-control"), "Cache-Control"),
  ),
  looks("rejects an ETag", ["etag"], ({ header }) => lacks(header("etag"), "an ETag")),
  looks("rejects headers of security", ["security_headers"], ({ headers }) =>
    lacks(
      headers.find(([name]) => /^(?:strict-|x-(?:content|frame))/i.test(name)),
      "a security header",
    ),
  ),
  looks(
    "allows only headers that it knows",
    [
      "unknown_headers",
      "vary",
      "server",
      "via",
      "security_headers",
      "etag",
      "cache_control",
      "rate_limit_headers",
      "www_authenticate",
      "request_id_on_errors",
      "retry_after",
      "resend.429",
    ],
    ({ headers }) => {
      for (const [name] of headers) {
        /^(?:content-(?:type|length)|date|x-request-id)$/i.test(name) || fail(name);
      }
    },
  ),
];

const survivesAllBut =
  (trouble: Parameters<Client["survives"]>[0]): Client["survives"] =>
  (other) =>
    other !== trouble;

const seconds = (reply: Reply) => {
  const value = reply.header("retry-after");
  return value === undefined ? undefined : 1000 * Number.parseInt(value, 10) || 0;
};

/** Without the test that waits for the next minute, which would find the flaw in the first run. */
const withoutWait = ({ tests }: Suite): Partial<Suite> => ({
  tests: tests.filter(({ key }) => key !== "rate-limited-minute"),
});

/** How clients send a request again, or do not. */
const ofRetrying: readonly Flaw[] = [
  {
    does: "sends a key again after a 401",
    causes: ["resend.401"],
    client: { triesAfter: ({ status }) => (status === 401 ? 4 : 1) },
  },
  {
    does: "sends a key again after a 403",
    causes: ["resend.403"],
    client: { triesAfter: ({ status }) => (status === 403 ? 4 : 1) },
  },
  {
    does: "sends a key again after a 401, if it has worked",
    causes: ["resend.401"],
    client: {
      triesAfter: ({ status }, _, hasWorked) => (status === 401 && hasWorked ? 2 : 1),
      caches: false,
    },
    suite: (suite) => thrice(suite),
  },
  {
    does: "sends a key again once after a 401",
    causes: ["resend.401"],
    client: { triesAfter: ({ status }) => (status === 401 ? 2 : 1), pauseMs: 1, tries: 3 },
    suite: inTurn,
  },
  ...["insufficient_scope", "access_denied"].map(
    (code): Flaw => ({
      does: `sends a key again after a 403 with ${code}`,
      causes: [`resend.403.${code}`],
      client: { triesAfter: ({ status }, other) => (status === 403 && other === code ? 3 : 1) },
      suite: (suite) => {
        const { tests, extras } = inTurn(suite);
        const others = tests.filter(({ key }) => key !== "wrong-scope" && key !== "organization-inactive");
        const rejected = ["wrong-scope", "organization-inactive"] as const;
        return {
          tests: [...rejected.map((key) => ({ key, times: 1, isParallel: false })), ...others],
          extras,
        };
      },
    }),
  ),
  {
    does: "does not wait after a 429",
    causes: ["resend.429", "resend.503"],
    client: { limitTries: 4, waitAfter: () => undefined, waitForLimit: () => 10 },
    suite: withoutWait,
  },
  {
    does: "waits a second after a 429 without Retry-After",
    causes: ["resend.429.without", "plain"],
    client: { limitTries: 4, waitForLimit: () => 1000 },
  },
  {
    does: "ignores the Retry-After of a 429",
    causes: ["resend.429"],
    client: { limitTries: 5, waitAfter: (reply) => (reply.status === 429 ? 500 : retryAfter(reply)) },
    suite: withoutWait,
  },
  {
    does: "ignores the Retry-After of a 503",
    causes: ["resend.503"],
    client: {
      tries: 5,
      pauseMs: 50,
      waitAfter: (reply) => (reply.status === 503 ? undefined : retryAfter(reply)),
    },
    suite: inTurn,
  },
  {
    does: "reads the date in Retry-After as a number",
    causes: ["resend.429.date", "row retry_after"],
    client: { tries: 5, limitTries: 3, waitAfter: seconds },
    suite: withoutWait,
  },
  {
    does: "gives up at the first 503",
    // A suite that sets a fault fails in its first run.
    causes: ["fault.status", "plain"],
    client: { survives: survivesAllBut("status") },
  },
  {
    does: "gives up when a connection is reset",
    causes: ["fault.reset"],
    client: { survives: survivesAllBut("reset") },
  },
  {
    does: "gives up at the first timeout",
    causes: ["fault.hang"],
    client: { survives: survivesAllBut("timeout") },
  },
  {
    does: "gives up after a truncated body",
    causes: ["fault.truncate"],
    client: { survives: survivesAllBut("truncated") },
  },
  {
    does: "gives up after invalid JSON",
    causes: ["fault.malformed"],
    client: { survives: survivesAllBut("invalid") },
  },
  { does: "has no timeout", causes: ["fault.hang"], client: { timeoutMs: 3_600_000 } },
  {
    does: "expects each response within half a second",
    causes: ["fault.latency", "fault.slow"],
    client: {
      timeoutMs: 3000,
      look: ({ firstMs, lastMs }) => void (Math.max(firstMs, lastMs) < 500 || fail("late")),
    },
  },
];

/** Without parallel requests, next to which a resend or a stored response may stay unseen, as docs/certify.md says. */
function inTurn({ tests, extras }: Suite): Pick<Suite, "tests" | "extras"> {
  return {
    tests: tests.map((test) => ({ ...test, isParallel: false })),
    extras: extras.filter(({ when }) => when !== "heartbeat"),
  };
}

const thrice = (suite: Suite): Partial<Suite> => ({
  tests: [
    { key: "active", times: 3, isParallel: false },
    ...suite.tests.filter(({ key }) => key !== "active"),
  ],
});

/** What tests do not notice, and clients that do not send what their tests ask for. */
const ofTests: readonly Flaw[] = [
  {
    does: "returns a stored response instead of a rejection",
    causes: ["resend.401"],
    isStated: true,
    client: { storesAccepted: true },
    suite: (suite) => inTurn({ ...suite, ...thrice(suite) }),
  },
  {
    does: "runs only once: its runner repeats the result",
    causes: ["plain"],
    isStated: true,
    suite: () => ({ runsOnce: true }),
  },
  {
    does: "does not check that a key is rejected",
    causes: ["answer.401", "answer.403"],
    suite: () => ({ checks: (key) => keys[key] === 200 || keys[key] === 429 }),
  },
  {
    does: "does not check that a key is accepted",
    causes: ["answer.200"],
    suite: (suite) => ({ ...inTurn(suite), checks: (key) => keys[key] !== 200 }),
  },
];

export const flaws: readonly Flaw[] = [...ofReading, ...ofRetrying, ...ofTests];
