import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { serveControl } from "./client.js";

const scenario = parseScenario(`
version: 1
clock: { now: 2026-03-02T09:00:10Z }
organizations:
  bank:
    type: bank
    keys:
      main: { environment: test }
      short: { environment: test, expires: 30m }
      gone: { environment: test, state: revoked }
timeline:
  - { at: 20m, rotate: { key: main, as: next, overlap: 1h } }
  - { at: 25m, organization: { ref: bank, status: inactive } }
faults:
  - { when: { after: 5m, until: 10m, key: main }, then: { status: 503 } }
`);
const post = (json: object) => ({ method: "POST", json });

interface Coming {
  readonly at: string;
  readonly kind: string;
  readonly text: string;
}

test("the next events are listed, soonest first, and happen at their time", async () => {
  const { ask } = await serveControl({ scenario });
  const upcoming = async (): Promise<Coming[]> => (await ask("/upcoming")).body.data;
  const rest = { key: null, organization: null, step: null, text: expect.any(String) };
  expect(await upcoming()).toEqual([
    { ...rest, at: "2026-03-02T09:01:00.000Z", kind: "minute_reset" },
    { ...rest, at: "2026-03-02T09:05:10.000Z", kind: "fault_begins", key: "main" },
    { ...rest, at: "2026-03-02T09:10:10.000Z", kind: "fault_ends", key: "main" },
    { ...rest, at: "2026-03-02T09:20:10.000Z", kind: "timeline_step", step: 1, key: "main" },
    { ...rest, at: "2026-03-02T09:25:10.000Z", kind: "timeline_step", step: 2, organization: "bank" },
    { ...rest, at: "2026-03-02T09:30:10.000Z", kind: "key_expires", key: "short", organization: "bank" },
    { ...rest, at: "2026-03-03T00:00:00.000Z", kind: "day_reset" },
  ]);
  await ask("/clock/advance", post({ by: "20m" }));
  const later = await upcoming();
  expect(later.find(({ kind }) => kind === "overlap_ends")).toMatchObject({
    ...{ at: "2026-03-02T10:20:10.000Z", key: "main", organization: "bank" },
  });
  expect(later.map(({ at }) => at)).toEqual(later.map(({ at }) => at).toSorted());
});

test("a list has 100 rows at most", async () => {
  const { ask } = await serveControl({
    scenario: {
      version: 1,
      clock: { now: "2026-03-02T09:00:10Z" },
      organizations: { bank: { type: "bank" } },
      timeline: Array.from({ length: 120 }, (_, index) => ({
        at: `${index + 1}m`,
        organization: { ref: "bank", status: "active" as const },
      })),
    },
  });
  const { data } = (await ask("/upcoming")).body;
  expect([data.length, data[0].kind]).toEqual([100, "minute_reset"]);
});
