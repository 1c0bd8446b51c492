import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { storySender } from "../../src/api/story-sender.js";
import { parseScenario } from "../../src/index.js";
import { markUnread } from "../../src/log/memory-log.js";
import { loadReader, openWorld } from "../../src/node/platform.js";
import {
  applyLine,
  describeLine,
  hasHappened,
  isBeyondLine,
  type Line,
  markOf,
  tellLine,
} from "../../src/sandbox/line.js";
import { operations, settled } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox.js";
import { describeSandbox, restoreSandbox } from "../../src/sandbox/start.js";
import { runNextStep } from "../../src/sandbox/story/run-step.js";
import { viewKeys } from "../../src/sandbox/views.js";
import { scenario } from "../operations/world.js";
import { loanRecords, loans } from "../records/world.js";
import { asked } from "../support/send.js";

// Two copies of a sandbox: one where something happens, and one that gets its line.

await loadReader();
const own = parseScenario(
  JSON.stringify({
    ...scenario,
    openapi: { text: JSON.stringify(loans), file: "api.yaml" },
    records: loanRecords,
    faults: [{ when: { every: 2, path_id: "404.unknown_path" }, then: { status: 503 } }],
    timeline: [
      { at: "10m", revoke: { key: "live" } },
      { at: "20m", revoke: { key: "live" } },
    ],
    story: [{ request: { key: "main" } }, { revoke: { key: "insurer-key" } }],
  }),
);
const sent =
  (path: string, more = {}) =>
  (world: SandboxState) =>
    void handle(world, asked({ path, ...more }));
const key = { organization: "insurer", environment: "test", name: "CI" } as const;

/** One for each operation of the table, and what else happens to a sandbox. */
const acts: Record<keyof typeof operations, (world: SandboxState) => unknown> &
  Record<string, (world: SandboxState) => unknown> = {
  create_key: (world) => operations.create_key(world, key),
  rotate: (world) => operations.rotate(world, { key: "main", overlap: "1h" }),
  revoke: (world) => operations.revoke(world, { key: "legacy" }),
  expire: (world) => operations.expire(world, { key: "legacy-live", expires: "1h" }),
  organization: (world) => operations.organization(world, { ref: "insurer", status: "inactive" }),
  record: (world) => operations.record(world, { in: "loans", add: { amount: 7 } }),
  faults: (world) => operations.faults(world, []),
  assumptions: (world) => operations.assumptions(world, { minute_window: "sliding" }),
  clock: (world) => operations.clock(world, { frozen: true }),
  advance: (world) => operations.advance(world, { by: "11m" }),
  clear_requests: (world) => operations.clear_requests(world),
  request: sent("/v1/relying-party/me", { apiKey: "SVC_test_sbxUnknown000000000000000000" }),
  again: sent("/v1/relying-party/me", { apiKey: "SVC_test_sbxUnknown000000000000000000" }),
  faulty: (world) => [sent("/v1/x")(world), sent("/v1/y")(world)],
  story: (world) => runNextStep(world, storySender(world)),
  rejected: (world) => expect(() => operations.revoke(world, { key: "revoked" })).toThrow(),
  rejection_of_the_timeline: (world) => operations.advance(world, { by: "10m" }),
  unread: (world) => markUnread(world, world.history.requests()[0]?.id as string),
};

const seen = (world: SandboxState) => {
  const { at: _, ...state } = describeSandbox(settled(world));
  const { name, seed, idSeries } = world;
  return JSON.parse(
    JSON.stringify([state, viewKeys(world), world.history.recorded().entries, name, seed, idSeries]),
  );
};

test("a copy that gets the lines of another one shows the same in all views, after each operation of the table", () => {
  const [one, other] = [openWorld(own), openWorld(own)];
  const told: string[][] = [[], []];
  for (const [index, world] of [one, other].entries())
    world.history.subscribe(({ type }) => void told[index]?.push(type));
  for (const [name, act] of Object.entries(acts)) {
    const before = markOf(one);
    one.history.hold();
    act(one);
    const happened = one.history.held();
    expect([name, hasHappened(one, happened, before)]).toEqual([name, true]);
    const line: Line = JSON.parse(JSON.stringify(describeLine(one, happened, before)));
    one.history.release();
    if (isBeyondLine(happened)) {
      const state = JSON.parse(JSON.stringify(describeSandbox(one)));
      restoreSandbox(state, other.platform, {}, other);
      for (const world of [one, other]) world.history.restart();
      for (const list of told) list.length = 0;
    } else {
      applyLine(other, line);
      tellLine(other, line);
    }
    expect({ name, seen: seen(other) }).toEqual({ name, seen: seen(one) });
    expect(told[1]).toEqual(told[0]);
  }
});

test("nobody hears of what is dropped, and a copy that is filled again is as before", () => {
  const world = openWorld(own);
  const told: string[] = [];
  world.history.subscribe(({ type }) => void told.push(type));
  acts.request?.(world);
  const [before, state] = [seen(world), JSON.stringify(describeSandbox(world))];
  world.history.hold();
  for (const act of Object.values(acts)) act(world);
  world.history.drop();
  restoreSandbox(JSON.parse(state), world.platform, {}, world);
  expect(seen(world)[0]).toEqual(before[0]);
  expect(told).toEqual(["request"]);
});
