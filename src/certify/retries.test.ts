import fc from "fast-check";
import { expect, test } from "vitest";
import { type ApiPathId, outcomeOf, type PathId } from "../domain/outcomes.js";
import { type CountedRun, type RetryTrial, retryTrials, type Sent, withRetries } from "./retries.js";

const pathOf = {
  active: "200.test",
  live: "200.live",
  revoked: "401.revoked",
  expired: "401.expired",
  "wrong-scope": "403.insufficient_scope",
  inactive: "403.access_denied",
  limited: "429.per_day",
} as const satisfies Record<string, ApiPathId>;
type Key = keyof typeof pathOf;
const keys = Object.keys(pathOf) as Key[];

/** A client and its tests; each test sends keys, and fails at the first response with another status than usual. */
interface Client {
  readonly tests: readonly (readonly Key[])[];
  /** The number of retries after each status. */
  readonly retries: Readonly<Record<number, number>>;
  /** The number of times that a failing test is run again. */
  readonly reruns: number;
  /** Whether the first failing test ends the run. */
  readonly bail: boolean;
  /** Whether each key is sent several times at once. */
  readonly burst: number;
}

const calm: Client = { tests: [], retries: {}, reruns: 0, bail: false, burst: 1 };

/**
 * What the client sends to a server whose response to the nth request with a key ends on this path. Keys of one path may be
 * accepted all the same.
 */
function run(
  { tests, retries, reruns, bail, burst }: Client,
  respond: (key: Key, nth: number) => PathId,
  accepted?: PathId,
): CountedRun {
  const sent = new Map<string, Sent>();
  const repeated = new Map<string, CountedRun["report"]["repeats"][number]>();
  const total = new Map<Key, number>();
  const refused = new Set<Key>();
  const send = (key: Key) => {
    total.set(key, (total.get(key) ?? 0) + 1);
    const pathId = respond(key, total.get(key) as number);
    const name = `${pathId} ${key}`;
    sent.set(name, { key, pathId, count: (sent.get(name)?.count ?? 0) + 1 });
    if (refused.has(key)) {
      const count = (repeated.get(name)?.count ?? 0) + 1;
      repeated.set(name, { pathId, key, fingerprint: null, count });
    }
    const status = pathId === accepted ? 200 : outcomeOf(pathId).status;
    if (status !== 200) refused.add(key);
    return status;
  };
  const call = (key: Key) => {
    let status = send(key);
    for (let left = retries[status] ?? 0; left > 0; left--) status = send(key);
    return status;
  };
  const passes = (steps: readonly Key[]) =>
    steps.every((key) => {
      const statuses = Array.from({ length: burst }, () => call(key));
      return statuses.every((status) => status === outcomeOf(pathOf[key]).status);
    });
  for (const steps of tests) {
    let left = reruns;
    let isFine = passes(steps);
    for (; !isFine && left > 0; left--) isFine = passes(steps);
    if (!isFine && bail) break;
  }
  return { sent: [...sent.values()], report: { repeats: [...repeated.values()] } };
}

/** The ids of the advice on the client. */
function adviceOn(client: Client): string[] {
  const usual = run(client, (key) => pathOf[key]);
  const paths = [...new Set(usual.sent.map(({ pathId }) => pathId))].filter(
    (path) => !path.startsWith("200"),
  );
  const accepted = new Map(paths.map((path) => [path, run(client, (key) => pathOf[key], path)]));
  const rejected = new Map(
    retryTrials(usual).map((trial): [RetryTrial, CountedRun] => {
      const { key, last, pathId } = trial;
      return [trial, run(client, (one, nth) => (one === key && nth >= last ? pathId : pathOf[one]))];
    }),
  );
  const note = { id: "sent-again-after-refusal", count: 1, examples: [] } as never;
  const report = { repeats: usual.report.repeats, advice: [note] } as never;
  return withRetries(report, { plain: [usual], accepted, rejected }).advice.map(({ id }) => id);
}

const note = "sent-again-after-refusal";
const threeTests: Client["tests"] = [["active"], ["revoked"], ["revoked"], ["revoked"], ["inactive"]];

test.each<[string, Partial<Client>, string[]]>([
  ["three tests that send the revoked key", { tests: threeTests }, []],
  ["a burst of each key", { tests: [keys], burst: 5 }, []],
  [
    "a test that sends a rejected key twice, and stops",
    { tests: [["active"], ["revoked", "revoked"]] },
    [note],
  ],
  ["three tests, of which the first failure ends the run", { tests: threeTests, bail: true }, [note]],
  ["tests that a runner runs again", { tests: threeTests, reruns: 2 }, [note]],
  ["no accepted key", { tests: [["revoked"], ["expired"]], retries: { 401: 1 } }, [note]],
  ["a retry after 401 alone", { tests: [keys], retries: { 401: 1 } }, ["same-key-after-401"]],
  [
    "retries after each",
    { tests: [keys], retries: { 401: 3, 403: 1, 429: 2 } },
    ["same-key-after-401", "same-key-after-403", "too-soon-after-429"],
  ],
  ["retries of a client that a runner runs again", { tests: [keys], retries: { 401: 1 }, reruns: 2 }, [note]],
  [
    "retries next to a burst of 403",
    { tests: [keys], retries: { 429: 1 }, burst: 2 },
    ["too-soon-after-429"],
  ],
])("a retry is what the client does only because of a rejection: %s", (_, client, advice) => {
  expect(adviceOn({ ...calm, ...client })).toEqual(advice);
});

const suites = fc
  .array(fc.array(fc.constantFrom(...keys), { minLength: 1, maxLength: 5 }), { maxLength: 6 })
  .map((tests): Client["tests"] => [["active"], ...tests]);
const clients = fc.record({ tests: suites, bail: fc.boolean(), burst: fc.integer({ min: 1, max: 4 }) });

test("a client that sends each key as often as its tests say is never accused", () => {
  fc.assert(
    fc.property(clients, (client) => {
      expect(adviceOn({ ...calm, ...client }).filter((id) => id !== note)).toEqual([]);
    }),
  );
});

test("a client that retries is accused of each status that it retries after, and of no other", () => {
  const retries = fc.record(Object.fromEntries([401, 403, 429].map((one) => [one, fc.nat({ max: 3 })])));
  fc.assert(
    fc.property(clients, retries, (client, retries) => {
      const met = client.tests.flat().map((key) => outcomeOf(pathOf[key]).status);
      const wanted = [401, 403, 429].filter((status) => met.includes(status) && Number(retries[status]) > 0);
      const found = adviceOn({ ...calm, ...client, retries }).filter((id) => id !== note);
      expect(found.map((id) => Number(id.slice(-3)))).toEqual(wanted);
    }),
  );
});
