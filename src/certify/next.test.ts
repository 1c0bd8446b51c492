import { expect, test } from "vitest";
import { openTestWorld } from "../../test/support/doors.js";
import { ask } from "../../test/support/varied.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { type Rehearsed, rehearseChanges, renderCalendar, type TryAt } from "./next.js";

type Changes = NonNullable<(typeof bundledScenarios)["key-states"]["changes"]>;

/** Eleven announced changes; the last one is of a path that no client here sends a request for. */
const announced: Changes = {
  code: { at: "2027-06-01", codes: { rate_limited: "quota_exceeded" } },
  details: { at: "2027-06-01", assumptions: { error_details: true } },
  scopes: { at: "2027-06-01", scopes: { rename: { "attestations:read": "attestations.read" } } },
  path: { at: "2027-06-01", move: { to: "/v2/relying-party/me", sunset: "2027-12-01" } },
  status: { at: "2027-07-01", statuses: { insufficient_scope: 404 } },
  usage: { at: "2027-07-01", members: { in: "data.usage", rename: { today: "day" }, add: { month: 3 } } },
  region: { at: "2027-07-01T12:00:00Z", members: { in: "data", add: { region: "north" } } },
  ids: { at: "2027-08-01", headers: { rename: { "X-Request-Id": "Request-Id" } } },
  version: { at: "2027-08-01", headers: { add: { "X-Api-Version": "2" } } },
  message: { at: "2027-09-01", members: { in: "error", on: 401, remove: ["message"] } },
  inactive: { at: "2027-09-01", codes: { access_denied: "inactive" } },
};

interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: { readonly data?: Members; readonly error?: Members };
}
// biome-ignore lint/suspicious/noExplicitAny: clients read whatever comes
type Members = Readonly<Record<string, any>>;
type Get = (key: string, path?: string) => Response;
/** Throws when something is not as it expects. */
type Client = (get: Get) => void;

const [v1, v2] = ["/v1/relying-party/me", "/v2/relying-party/me"];

function check(holds: unknown): asserts holds {
  if (!holds) throw new Error("the client fails");
}

/** Tries a client in this process. */
function trying(client: Client, scenario = bundledScenarios["key-states"]) {
  const tryAt: TryAt = async (changes, now) => {
    let shown = false;
    const trial = { changes, onChanged: () => (shown = true) };
    const world = openTestWorld(scenario, { trial, now });
    const get: Get = (key, path = v1) => {
      const { status, headers, body } = ask(world, { key, path });
      const names = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
      return { status, headers: new Map(names), body: JSON.parse(body) };
    };
    try {
      client(get);
      return { failed: false, shown };
    } catch {
      const { id, pathId, status } = [...world.history.requests()].at(-1) ?? {};
      return { failed: true, shown, ...(id && pathId && status && { lastRequest: { id, pathId, status } }) };
    }
  };
  return { tryAt };
}

async function verdicts(client: Client) {
  const all = await rehearseChanges(announced, trying(client).tryAt);
  const breaks = all.filter(({ verdict }) => verdict === "breaks");
  return {
    all,
    breaks: Object.fromEntries(breaks.map((one) => [one.ref, `${one.breaksOn}: ${one.sentence}`])),
  };
}

/** Reads the context by the new path, and by the old one where there is no new one yet. */
const moving = (get: Get, key: string): Response => {
  const fresh = get(key, v2);
  return fresh.body.error?.code === "not_found" ? get(key) : fresh;
};

/** Five clients with ten planted dependencies on what changes, and what must be named of each. */
const planted: [string, Client, Record<string, string>][] = [
  [
    "compares the code of a 429 and calls the old path",
    (get) => {
      const { status, body } = get("rate-limited");
      check(status === 429 && body.error?.code === "rate_limited");
    },
    {
      code: "2027-06-01: relies on the code `rate_limited` of a 429",
      path: "2027-12-01: calls `/v1/relying-party/me` after its sunset",
    },
  ],
  [
    "looks for a scope by its name, and reads usage.today",
    (get) => {
      const { body } = moving(get, "active");
      check(body.data?.scopes.includes("attestations:read"));
      check(body.data?.usage.today > 0);
    },
    {
      scopes: "2027-06-01: relies on the scope name `attestations:read`",
      usage: expect.stringContaining("2027-07-01: relies on the member `today` of `data.usage` or "),
    },
  ],
  [
    "knows each member of data, and quotes X-Request-Id",
    (get) => {
      const { body, headers } = moving(get, "active");
      check(Object.keys(body.data ?? {}).length === 5);
      check(headers.has("x-request-id"));
    },
    {
      region: "2027-07-01T12:00:00Z: rejects the new member `region` of `data`",
      ids: "2027-08-01: relies on the header `X-Request-Id`",
    },
  ],
  [
    "takes a missing scope for a 403, and has a strict shape of errors",
    (get) => {
      const { status, body } = moving(get, "wrong-scope");
      check(status === 403 || status === 429);
      check(Object.keys(body.error ?? {}).length === 2);
    },
    {
      status: "2027-07-01: relies on the status 403 of `insufficient_scope`",
      details: "2027-06-01: relies on the value of `error_details`, which becomes true",
    },
  ],
  [
    "shows the message of a 401, and knows each header",
    (get) => {
      const { status, body, headers } = moving(get, "revoked");
      check(status === 401 && body.error?.message.length > 0);
      check(![...headers.keys()].some((name) => name.startsWith("x-api-")));
    },
    {
      message: "2027-09-01: relies on the member `message` of `error`",
      version: "2027-08-01: rejects the header `X-Api-Version: 2`",
    },
  ],
];

test.each(planted)("a client that %s: these changes are named, and no other", async (_, client, expected) => {
  const { breaks, all } = await verdicts(client);
  expect(breaks).toEqual(expected);
  expect(all.find(({ ref }) => ref === "inactive")?.verdict).toBe("not_covered");
  for (const { verdict, lastRequest, whatToDo } of all) {
    if (verdict === "breaks")
      expect([lastRequest?.pathId, whatToDo]).toEqual([expect.anything(), expect.any(String)]);
  }
});

const everyKey = ["active", "rate-limited", "wrong-scope", "revoked", "organization-inactive"];

const correct: [string, Client][] = [
  [
    "reads statuses, and the new path with the old one as a fallback",
    (get) => {
      const statuses = everyKey.map((key) => moving(get, key).status);
      check(statuses.every((status) => [200, 401, 403, 404, 429].includes(status)));
    },
  ],
  [
    "follows the link to the successor, and falls back to it",
    (get) => {
      const old = get("active");
      const [, link] = /<(.*)>; rel="successor-version"/.exec(old.headers.get("link") ?? "") ?? [];
      check((old.status === 200 && link === undefined ? old : get("active", link ?? v2)).status === 200);
    },
  ],
];

test.each(correct)("a correct client that %s passes through all dates", async (_, client) => {
  const { all } = await verdicts(client);
  expect(all.filter(({ verdict }) => verdict === "breaks" || verdict === "unclear")).toEqual([]);
  expect(all.some(({ verdict }) => verdict === "passes")).toBe(true);
});

test("of a change with several parts, each part is named", async () => {
  const { all } = await verdicts((get) =>
    check(!("month" in (moving(get, "active").body.data?.usage ?? {}))),
  );
  expect(all.find(({ ref }) => ref === "usage")).toMatchObject({
    verdict: "breaks",
    sentence: expect.stringMatching(/^(?=.*rejects the new member `month` of `data.usage`).* or /),
    whatToDo: expect.stringContaining("ignore members that you do not know"),
  });
});

test("a client that fails at a date without any change is not blamed on a change", async () => {
  const scenario = structuredClone(bundledScenarios["key-states"]);
  const key = scenario.organizations?.["harvest-bank"]?.keys?.active;
  Object.assign(key ?? {}, { expires: "2027-01-01T00:00:00Z" });
  const { tryAt } = trying((get) => check(get("active").status === 200), scenario);
  const [one] = await rehearseChanges({ version: announced.version as Changes[string] }, tryAt);
  expect(one).toMatchObject({ verdict: "unclear", sentence: "fails at that time without any change" });
});

test("a calendar shows each verdict, and JUnit fails what breaks or is unclear", () => {
  const one = (ref: string, verdict: Rehearsed["verdict"], more: Partial<Rehearsed> = {}): Rehearsed => ({
    ...{ ref, dates: ["2027-06-01", "2027-12-01"], verdict, ...more },
  });
  const found = { breaksOn: "2027-12-01", sentence: "relies on a", whatToDo: "read b" };
  const changes = [
    ...[one("a", "passes", { say: "Say." }), one("b", "breaks", found), one("c", "unclear", found)],
    one("d", "not_covered"),
  ];
  const rehearsal = { scenario: "s", next: "n.yaml", command: ["c"], runs: 7, changes };
  const text = (verdict: "failed" | "unusable") => renderCalendar({ ...rehearsal, verdict }, "text");
  const lines = text("failed")
    .split("\n")
    .map((line) => line.trim().replace(/ +/g, " "));
  expect(lines).toEqual(
    expect.arrayContaining([
      "c in 7 runs against s, with the changes of n.yaml",
      "2027-06-01, 2027-12-01 a passes",
      "2027-06-01, 2027-12-01 b Breaks on 2027-12-01: relies on a; read b.",
      "2027-06-01, 2027-12-01 c Unclear on 2027-12-01: relies on a; read b.",
      "2027-06-01, 2027-12-01 d not covered: the client gets no response that it changes",
      "1 of 4 announced changes break the client: 1 pass, 1 not covered, 1 unclear.",
    ]),
  );
  expect(text("failed")).toContain("Say.");
  expect(text("unusable")).toContain("Not rehearsed: ");
  const junit = renderCalendar({ ...rehearsal, verdict: "failed" }, "junit");
  expect(junit).toContain('tests="4" failures="2" errors="0" skipped="1"');
  expect(junit.match(/exec s --at 2027-12-01 --changes n\.yaml -- c/g)).toHaveLength(2);
});

test("a client that fails at random is unclear, and not blamed on a change", async () => {
  let tries = 0;
  const tryAt: TryAt = async () => ({ failed: tries++ === 1, shown: true });
  const [one] = await rehearseChanges({ version: announced.version as Changes[string] }, tryAt);
  expect(one).toMatchObject({ verdict: "unclear", sentence: "fails once and passes once" });
});
