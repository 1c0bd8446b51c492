import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { storySender } from "../../src/api/story-sender.js";
import { parseScenario } from "../../src/index.js";
import { loadReader, startInNode } from "../../src/node/platform.js";
import {
  applyLine,
  describeLine,
  hasHappened,
  isBeyondLine,
  type Line,
  markOf,
  tellLine,
} from "../../src/sandbox/line.js";
import { operations, runDue } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox.js";
import { describeSandbox, restoreSandbox } from "../../src/sandbox/start.js";
import { tryNextStep } from "../../src/sandbox/story/run-step.js";
import { viewKeys } from "../../src/sandbox/views.js";
import { markUnread } from "../../src/store/memory-store.js";
import { scenario } from "../operations/sandbox.js";
import { loanRecords, loans } from "../records/sandbox.js";
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
  (sandbox: SandboxState) =>
    void handle(sandbox, asked({ path, ...more }));
const key = { organization: "insurer", environment: "test", name: "CI" } as const;

/** One for each operation of the table, and what else happens to a sandbox. */
const acts: Record<keyof typeof operations, (sandbox: SandboxState) => unknown> &
  Record<string, (sandbox: SandboxState) => unknown> = {
  create_key: (sandbox) => operations.create_key(sandbox, key),
  rotate: (sandbox) => operations.rotate(sandbox, { key: "main", overlap: "1h" }),
  revoke: (sandbox) => operations.revoke(sandbox, { key: "legacy" }),
  expire: (sandbox) => operations.expire(sandbox, { key: "legacy-live", expires: "1h" }),
  organization: (sandbox) => operations.organization(sandbox, { ref: "insurer", status: "inactive" }),
  record: (sandbox) => operations.record(sandbox, { in: "loans", add: { amount: 7 } }),
  faults: (sandbox) => operations.faults(sandbox, []),
  assumptions: (sandbox) => operations.assumptions(sandbox, { minute_window: "sliding" }),
  clock: (sandbox) => operations.clock(sandbox, { frozen: true }),
  advance: (sandbox) => operations.advance(sandbox, { by: "11m" }),
  clear_requests: (sandbox) => operations.clear_requests(sandbox),
  request: sent("/v1/relying-party/me", { apiKey: "SVC_test_sbxUnknown000000000000000000" }),
  again: sent("/v1/relying-party/me", { apiKey: "SVC_test_sbxUnknown000000000000000000" }),
  faulty: (sandbox) => [sent("/v1/x")(sandbox), sent("/v1/y")(sandbox)],
  story: (sandbox) => tryNextStep(sandbox, storySender(sandbox)),
  rejection_of_the_timeline: (sandbox) => operations.advance(sandbox, { by: "10m" }),
  unread: (sandbox) => markUnread(sandbox, sandbox.history.requests()[0]?.id as string),
};

const seen = (sandbox: SandboxState) => {
  runDue(sandbox);
  const { at: _, ...state } = describeSandbox(sandbox);
  const { name, seed, idSeries } = sandbox;
  return JSON.parse(JSON.stringify([state, viewKeys(sandbox), name, seed, idSeries]));
};

test("a copy that gets the lines of another one shows the same in all views, after each operation of the table", () => {
  const [one, other] = [startInNode(own), startInNode(own)];
  const told: string[][] = [[], []];
  for (const [index, sandbox] of [one, other].entries())
    sandbox.history.subscribe(({ type }) => void told[index]?.push(type));
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
  const sandbox = startInNode(own);
  const told: string[] = [];
  sandbox.history.subscribe(({ type }) => void told.push(type));
  acts.request?.(sandbox);
  const [before, state] = [seen(sandbox), JSON.stringify(describeSandbox(sandbox))];
  sandbox.history.hold();
  for (const act of Object.values(acts)) act(sandbox);
  sandbox.history.drop();
  restoreSandbox(JSON.parse(state), sandbox.platform, {}, sandbox);
  expect(seen(sandbox)[0]).toEqual(before[0]);
  expect(told).toEqual(["request"]);
});
