import { expect, test } from "vitest";
import { conditionedRun } from "../../src/api/conditioned-run.js";
import words from "../../src/api/variation/words.json" with { type: "json" };
import { failuresByReason } from "../../src/certify/brief.js";
import { type Narrowed, narrowVaried, type Repeat } from "../../src/certify/narrow.js";
import { everywhere, type PlannedRun, planOf, pointsIn, whereTheyWere } from "../../src/certify/plan.js";
import type { CausePoint, Run } from "../../src/certify/result.js";
import type { RunConditions } from "../../src/sandbox/conditions.js";
import { startFrozen } from "../support/doors.js";
import { hasTrait, type ReadResponse, traits } from "../support/traits.js";
import { type Asked, ask, observe } from "../support/varied.js";

// A mistake for each variant of each row, derived from the words that certify has for it; `narrow.test.ts` holds those to
// be all that the variation table has.

const planted = Object.entries(words).flatMap(([row, { variants }]) =>
  Object.keys(variants).map((variant) => `${row}:${variant}`),
);

const [, , ...varied] = planOf(
  1,
  Array.from({ length: 150 }, (_, at) => at + 1),
  [],
);

const asked: readonly Asked[] = [
  { key: "active" },
  { key: "revoked" },
  { key: "rate-limited" },
  { key: "active", method: "POST" },
  { key: "expired" },
];

/** Whether a client breaks by a response; the number is its place in the order. */
type Breaks = (response: ReadResponse, at: number) => boolean;

/** What a run responses, in the order of what is asked, until the client stops. */
function responsesOf(run: PlannedRun, variant: RunConditions, stops?: Breaks): ReadResponse[] {
  return shownIn(run, variant, stops).responses;
}

function shownIn(run: PlannedRun, variant: RunConditions, stops: Breaks = () => false) {
  const sandbox = startFrozen("key-states", { ...run, run: conditionedRun(variant) });
  const seen = observe(sandbox);
  const responses: ReadResponse[] = [];
  for (const one of asked) {
    const { body, ...response } = ask(sandbox, one);
    responses.push({ ...response, text: body });
    if (responses.some(stops)) break;
  }
  return { responses, points: pointsIn(seen.flatMap(({ points }) => points)) };
}

const isPoint = (one: CausePoint) => (other: CausePoint) =>
  one.row === other.row && one.variant === other.variant && one.status === other.status;

const seen = varied.map((run) => ({ run, ...shownIn(run, {}) }));

/** A client that some responses break: it stops at the first, or reads them all. */
function attemptOf(breaks: Breaks, isStopping = false): Repeat {
  return async (run, given) => {
    const failed = responsesOf(run, given, isStopping ? breaks : undefined).some(breaks);
    return { failed, lastPath: () => undefined };
  };
}

/** Why a client that breaks by a point fails, in the first two runs that have the point and break it. */
async function narrowed(trait: string, planted: CausePoint): Promise<Narrowed[]> {
  const breaks = (response: ReadResponse) => hasTrait(trait, response);
  const failing = seen.filter(
    ({ responses, points }) => points.some(isPoint(planted)) && responses.some(breaks),
  );
  const found: Narrowed[] = [];
  await narrowVaried(failing.slice(0, 2), [], attemptOf(breaks), (_run, one) => void found.push(one));
  return found;
}

/** What a row needs to be seen at all: the order of a single scope is no order, and no plain message has a slash. */
const company: Readonly<Record<string, readonly string[]>> = {
  scope_order: ["key.granted_scopes"],
  escapes: ["message", "error_members", "details_without_reason"],
};

test("every row of the variation table, and of what records have, has a planted mistake", () => {
  expect(Object.keys(traits).sort()).toEqual(Object.keys(words).sort());
});

test.each(planted)("of a client that breaks by %s, this is named, and nothing else", async (trait) => {
  const [row = "", variant = ""] = trait.split(":");
  const point = { row, variant, status: traits[row]?.[0] as number };
  const needs = company[row] ?? [];
  const found = await narrowed(trait, point);
  expect(found).toHaveLength(2);
  for (const one of found) {
    const points = typeof one === "object" ? one.points : [];
    expect(points.filter((other) => !needs.includes(other.row))).toEqual([point]);
    expect(points.length).toBeLessThanOrEqual(1 + needs.length);
  }
});

test.each([false, true])(
  "the named cause alone breaks the run; the client stops at its first failure: %s",
  async (stops) => {
    const typeOf = ({ headers }: ReadResponse) =>
      headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
    // One mistake with the first 401 and one with the second, which the variants of the other do not show.
    const breaks: Breaks = (response, at) =>
      (at === 1 && typeOf(response) === 'application/json; charset="utf-8"') ||
      (at === 4 && typeOf(response) === "application/json; charset=utf-8");
    const failing = seen.filter(({ responses }) => responses.some(breaks));
    expect(failing.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    await narrowVaried(failing, [], attemptOf(breaks, stops), (run, one) => {
      const points = typeof one === "object" ? one.points : [];
      const variants = [whereTheyWere(points), everywhere(points)];
      if (!variants.some((variant) => responsesOf(run, variant).some(breaks))) wrong.push(run.name);
    });
    expect(wrong).toEqual([]);
  },
);

test("a client that rejects long request ids has one reason, on a 200 and where an error has one", async () => {
  const breaks = ({ headers }: ReadResponse) =>
    headers.some(([name, value]) => name.toLowerCase() === "x-request-id" && value.length > 100);
  const failing = seen.filter(({ responses }) => responses.some(breaks)).slice(0, 20);
  const runs: Run[] = [];
  await narrowVaried(failing, [], attemptOf(breaks), (run, one) => {
    const cause = typeof one === "object" ? one : undefined;
    runs.push({
      ...run,
      outcome: "failed",
      code: 1,
      durationMs: 1,
      requests: 1,
      percent: 1,
      ...(cause && { cause }),
    });
  });
  const rows = runs.flatMap(({ cause }) => cause?.points.map(({ row }) => row));
  expect([runs.length, new Set(rows)]).toEqual([20, new Set(["request_id_form", "request_id_on_errors"])]);
  const [[reason] = [], ...others] = failuresByReason(runs);
  const long = { row: "request_id_form", variant: "long", status: expect.any(Number) };
  expect([others, reason?.cause?.points]).toEqual([[], expect.arrayContaining([long])]);
});
