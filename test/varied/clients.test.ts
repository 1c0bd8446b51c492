import { expect, test } from "vitest";
import { variationTable } from "../../src/api/variation/table.js";
import { selector } from "../../src/api/variation/vary.js";
import { headerOf } from "../../src/check/answer.js";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { openTestWorld } from "../support/doors.js";
import { type Answered, type Asked, ask } from "../support/varied.js";

/** Takes an answer as a sloppy client does; false when the client has come to grief. */
type Client = (answer: Answered) => boolean;

const good: Asked = { key: "active" };
const rejected: Asked = { key: "revoked" };
const limited: Asked = { key: "rate-limited" };
const wrongMethod: Asked = { key: "active", method: "POST" };

const dataIn = ({ body }: Answered) => JSON.parse(body).data;
const errorIn = ({ body }: Answered) => JSON.parse(body).error;
const hasOnly = (value: object, ...names: string[]) =>
  Object.keys(value).every((name) => names.includes(name));
const lacks =
  (...names: string[]): Client =>
  (answer) =>
    names.every((name) => headerOf(answer, name) === undefined);

/** For each row of the table a client that relies on what `minimal` does there, and on nothing else that is open. */
const sloppyClients: Readonly<Record<string, readonly [asked: Asked, client: Client]>> = {
  rate_limit_code: [limited, (answer) => errorIn(answer).code === "rate_limited"],
  request_id_on_errors: [rejected, lacks("x-request-id")],
  error_details: [limited, (answer) => errorIn(answer).details === undefined],
  retry_after: [limited, (answer) => Number(headerOf(answer, "retry-after") ?? 60) >= 1],
  rate_limit_headers: [limited, lacks("ratelimit", "x-ratelimit-limit")],
  www_authenticate: [rejected, lacks("www-authenticate")],
  request_id_form: [good, (answer) => /^req_[0-9a-f]{24}$/.test(headerOf(answer, "x-request-id") ?? "")],
  data_members: [
    good,
    (answer) => hasOnly(dataIn(answer), "organization", "environment", "scopes", "limits", "usage"),
  ],
  limits_members: [good, (answer) => hasOnly(dataIn(answer).limits, "per_minute", "per_day")],
  usage_members: [good, (answer) => hasOnly(dataIn(answer).usage, "today")],
  scope_order: [good, (answer) => dataIn(answer).scopes[0] === "attestations:read"],
  error_members: [rejected, (answer) => hasOnly(errorIn(answer), "code", "message", "details")],
  details_without_reason: [rejected, (answer) => errorIn(answer).details === undefined],
  message: [rejected, (answer) => errorIn(answer).message === "A valid API key is required."],
  member_order: [good, (answer) => Object.keys(dataIn(answer))[0] === "organization"],
  whitespace: [good, ({ body }) => body.startsWith('{"') && body.endsWith("}}") && !body.includes('": ')],
  escapes: [good, ({ body }) => body.includes('"environment"')],
  content_type: [good, (answer) => headerOf(answer, "content-type") === "application/json"],
  allow: [wrongMethod, (answer) => headerOf(answer, "allow") === "GET, HEAD"],
  cache_control: [good, lacks("cache-control")],
  vary: [good, lacks("vary")],
  server: [good, lacks("server")],
  via: [good, lacks("via")],
  security_headers: [good, lacks("strict-transport-security", "content-security-policy")],
  unknown_headers: [good, lacks("server-timing", "x_upstream.name", "x-debug")],
  header_order: [good, ({ headers }) => headers[0]?.[0].toLowerCase() === "content-type"],
  header_casing: [good, ({ headers }) => headers.some(([name]) => name === "X-Request-Id")],
};

const patience = 60;

/** The numbers of the requests on which the client came to grief. */
function failuresOf(client: Client, asked: Asked, profile: "minimal" | "varied"): number[] {
  const world = openTestWorld("key-states", { profile, seed: 1 });
  return Array.from({ length: patience }, (_, index) => index + 1).filter(() => {
    world.clock.advance(2_000);
    return !client(ask(world, asked));
  });
}

test("there is a sloppy client for every row of the table", () => {
  expect(Object.keys(sloppyClients).sort()).toEqual(variationTable.map(({ id }) => id).sort());
});

test.each(Object.entries(sloppyClients))("a client that relies on %s of minimal is caught by varied", (id, [
  asked,
  client,
]) => {
  expect(failuresOf(client, asked, "minimal")).toEqual([]);
  const failures = failuresOf(client, asked, "varied");
  expect(failures.length).toBeGreaterThan(0);
  // It is this row that catches it, and no other.
  const row = variationTable.find((one) => one.id === id) as (typeof variationTable)[number];
  for (const number of failures) expect(selector(1, number)(row).variant).not.toBe(row.variants[0]);
});

type ConfirmKey = (question: object) => Promise<Record<string, unknown>>;
const { confirmKey } = (await import(`${"../../examples"}/node-test/confirm-key.js`)) as {
  confirmKey: ConfirmKey;
};

/** What the client of the examples, which relies on nothing but promises, makes of the answer to a key. */
async function decide(sandbox: Sandbox, apiKey: string) {
  const asked = { baseUrl: "https://any.example", apiKey, fetch: sandbox.fetch, attempts: 1 };
  const { result, code, organization, environment, usage, scopes } = await confirmKey(asked);
  const { id, type } = (organization ?? {}) as { id?: string; type?: string };
  const mayRead = (scopes as string[] | undefined)?.includes("attestations:read");
  return {
    result,
    code,
    id,
    type,
    environment,
    today: (usage as { today: number } | undefined)?.today,
    mayRead,
  };
}

test("a correct client decides under 200 seeds of varied what it decides under minimal, and tells the answers apart", async () => {
  const decisionsOf = async (profile: "minimal" | "varied", seed: number) => {
    const sandbox: Sandbox = createSandbox({ scenario: "key-states", profile, seed, frozen: true });
    const keys = [...sandbox.keys.list().map(({ ref }) => sandbox.secret(ref)), sandbox.unknownSecret(), ""];
    const decisions: Awaited<ReturnType<typeof decide>>[] = [];
    for (const key of keys) decisions.push(await decide(sandbox, key));
    return decisions;
  };
  const kinds = new Set((await decisionsOf("varied", 4)).map(({ result }) => result));
  expect([...kinds].sort()).toEqual(["confirmed", "limited", "refused", "rejected"]);
  for (let seed = 1; seed <= 200; seed++) {
    expect(await decisionsOf("varied", seed), `seed ${seed}`).toEqual(await decisionsOf("minimal", seed));
  }
});
