import { expect, test } from "vitest";
import { handMade, reportCovering, sentKey } from "../../test/certify/hand-made.js";
import type { RunEnd, SentKey } from "./client-runs/client-run.js";
import { noteRepeatedRejections } from "./repeated-rejections.js";

const rejected = { outcome: "401.revoked" } as const;
/** A revoked key that came so often; `hit`: whether the first one got a 200. */
const revoked = (count: number, hit = false) =>
  sentKey(
    "revoked",
    ...Array.from({ length: count }, (_, at) => ({ ...rejected, isReplaced: hit && at === 0 })),
  );
const active = (count: number) => sentKey("active", ...Array.from({ length: count }, () => ({})));
const report = reportCovering("401.revoked");

/** What the plain run shows that sends these keys, next to one whose first request with the revoked key gets a 200. */
async function whyOf(plain: readonly SentKey[], accepted: readonly SentKey[], only?: readonly string[]) {
  const { runs } = await handMade(({ name }): Partial<RunEnd> => {
    return name === "plain"
      ? { sentKeys: plain, report }
      : { sentKeys: accepted, replacedCount: 1, result: "failed" };
  }, only && { only });
  const [note] = await noteRepeatedRejections(runs);
  return note && `${note.what}: ${note.why}`;
}

test("a revoked key that comes three times in a row, and once if it is accepted, is told", async () => {
  expect(await whyOf([revoked(3), active(2)], [revoked(1, true), active(2)])).toBe(
    "resends of REVOKED: the plain run sent it 3 times in a row, after a 401, and less often if its first request got a 200",
  );
});

test.each<[string, readonly SentKey[], readonly SentKey[]]>([
  ["several tests send it: it comes as often if one is accepted", [revoked(3)], [revoked(3, true)]],
  ["the suite ends at its first failure", [revoked(3), active(2)], [revoked(1, true), active(0)]],
  ["it comes once", [revoked(1)], [revoked(1, true)]],
  ["another key was hit", [revoked(3), active(2)], [revoked(1), active(2)]],
  [
    "a second passes between its requests",
    [sentKey("revoked", { ...rejected, at: 0 }, { ...rejected, at: 1_500 })],
    [revoked(1, true)],
  ],
  [
    "it also works",
    [sentKey("revoked", rejected, rejected, {})],
    [sentKey("revoked", { ...rejected, isReplaced: true })],
  ],
  [
    "it is limited: a client may wait, and ask again",
    [sentKey("busy", { outcome: "429.per_minute" }, { outcome: "429.per_minute" })],
    [sentKey("busy", { outcome: "429.per_minute", isReplaced: true })],
  ],
])("no rejected key is told if %s", async (_, plain, accepted) => {
  expect(await whyOf(plain, accepted)).toBeUndefined();
});

test("no run is made for it that --only leaves out, but for resends: none must hold without it", async () => {
  expect(await whyOf([revoked(3)], [revoked(1, true)], ["varied"])).toBeUndefined();
  expect(await whyOf([revoked(3)], [revoked(1, true)], ["resend.401"])).toMatch(/^resends of REVOKED: /);
});

test("a client that asks again once only is told, although it asks again for another key then", async () => {
  const expired = (count: number) =>
    sentKey("expired", ...Array.from({ length: count }, () => ({ outcome: "401.expired" as const })));
  expect(await whyOf([revoked(2), expired(1)], [revoked(1, true), expired(2)])).toMatch(
    /^resends of REVOKED: /,
  );
});

test("no run is made for it on an outcome that is not judged, since it is not promised", async () => {
  const outcomes = report.outcomes.map((row) => ({ ...row, promised: row.promised && !row.covered }));
  const { runs, names } = await handMade(() => ({
    sentKeys: [revoked(3)],
    report: { ...report, outcomes },
  }));
  expect(await noteRepeatedRejections(runs)).toEqual([]);
  expect(names).toEqual(["plain"]);
});

test("of several rejected keys, each is told how often it was sent", async () => {
  const expired = (count: number, isHit = false) =>
    sentKey(
      "expired",
      ...Array.from({ length: count }, (_, at) => ({
        outcome: "401.expired" as const,
        isReplaced: isHit && at === 0,
      })),
    );
  const sentIn = new Map<string, readonly SentKey[]>([
    ["plain", [revoked(3), expired(2)]],
    ["answer.401.revoked", [revoked(1, true), expired(2)]],
    ["answer.401.expired", [revoked(3), expired(1, true)]],
  ]);
  const { runs } = await handMade(({ name }) => ({
    sentKeys: sentIn.get(name) ?? [],
    report: reportCovering("401.revoked", "401.expired"),
  }));
  const [note] = await noteRepeatedRejections(runs);
  expect(note?.why).toBe(
    "the plain run sent REVOKED 3 times and EXPIRED 2 times in a row, after a 401, and less often if its first request got a 200",
  );
});
