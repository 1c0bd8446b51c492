import { expect, test } from "vitest";
import { variationTable } from "../../src/api/variation/table.js";
import { type Attempt, type Narrowed, narrowVaried } from "../../src/certify/narrow.js";
import { planOf, recordPoints } from "../../src/certify/plan.js";
import type { Trial } from "../../src/sandbox/world.js";
import { openTestWorld } from "../support/doors.js";
import { type SloppyClient, sloppyClients } from "../support/sloppy-clients.js";
import { type Asked, ask } from "../support/varied.js";

const [, typical, ...varied] = planOf(1, [1, 2, 3, 4, 5, 6, 7, 8], []);

/** A client that asks for this, and for other things in which it makes no mistake; counts how often it is run. */
function certified([asked, client]: readonly [asked: Asked, client: SloppyClient]) {
  const made = { runs: 0 };
  const fails = (run: (typeof varied)[number], trial: Trial) => {
    made.runs += 1;
    const world = openTestWorld("key-states", { ...run, trial });
    return ["active", "revoked", "wrong-scope", "rate-limited"].some((key) => {
      ask(world, { key });
      world.clock.advance(1_000);
      return !client(ask(world, asked));
    });
  };
  const attempt: Attempt = async (run, trial) => ({ failed: fails(run, trial), lastPath: () => undefined });
  const failing = [typical as (typeof varied)[number], ...varied].flatMap((run) => {
    const { trial, points } = recordPoints({});
    return fails(run, trial) ? [{ run, points: points() }] : [];
  });
  return { attempt, failing, made };
}

/** What else a mistake takes: the order of a single scope is no order. */
const alsoTakes: Readonly<Record<string, readonly string[]>> = { scope_order: ["key.granted_scopes"] };

test.each(
  Object.entries(sloppyClients),
)("of a client that relies on %s of minimal, nothing else is named", async (id, mistake) => {
  const { attempt, failing, made } = certified(mistake);
  const found: Narrowed[] = [];
  const before = made.runs;
  await narrowVaried(failing, attempt, (_run, one) => void found.push(one));
  expect(failing.length).toBeGreaterThan(0);
  expect(found).toHaveLength(failing.length);
  const row = variationTable.find((one) => one.id === id);
  for (const one of found) {
    const points = one === "flaky" ? [] : one.points;
    expect(points.map((point) => point.row)).toEqual([...(alsoTakes[id] ?? []), id]);
    expect(row?.statuses).toContain(points.at(-1)?.status);
  }
  // Each new cause takes some twenty; each further run of a known one but one.
  expect(made.runs - before).toBeLessThan(60 + 12 * failing.length);
});

test("every cause of the same row and status is told with the same words", async () => {
  const { attempt, failing } = certified(sloppyClients.content_type as never);
  const sentences = new Map<string, string>();
  await narrowVaried(failing, attempt, (_run, one) => {
    if (one !== "flaky") sentences.set(JSON.stringify(one.points), one.sentence);
  });
  expect(new Set(sentences.values()).size).toBe(sentences.size);
  for (const sentence of sentences.values()) {
    expect(sentence).toMatch(/^fails when a 200 has `? ?;? ?.*charset.* in its `Content-Type`/);
  }
});
