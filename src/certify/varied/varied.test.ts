import { expect, test } from "vitest";
import { handMade, kindsOf, resultsOf, sentTimes } from "../../../test/certify/hand-made.js";
import type { RunEnd } from "../client-runs/client-run.js";
import { judgeVaried } from "./varied.js";

const point = { row: "etag", variant: "weak", status: 200 };
const sent = [sentTimes("active", 2)];
const varies: Partial<RunEnd> = { sentKeys: sent, points: [point] };

/** Runs whose varied ones end like this, by their names. */
const runsWith = (
  ends: Readonly<Record<string, Partial<RunEnd> | undefined>>,
  plan?: Parameters<typeof handMade>[1],
) => handMade(({ name }) => (name in ends ? ends[name] : varies), plan);

test("a varied run without its requests or a variation shows nothing, and is none that passed", async () => {
  const { runs } = await runsWith({
    "varied.2": { sentKeys: [], points: [] },
    "varied.5": { sentKeys: sent, points: [] },
  });
  const holding = await runs.heldVaried();
  expect(holding.map(({ seed }) => seed)).toEqual([1, 3, 4, 6, 7, 8]);
  const open = Object.entries(kindsOf(await runs.makeVaried())).filter(([, kind]) => kind === "not_judged");
  expect(open.map(([name]) => name)).toEqual(["varied.2", "varied.5"]);
});

test("varied.mixed follows if all eight runs passed, or if --only names it", async () => {
  const isMixed = async (...args: Parameters<typeof runsWith>) => {
    const { runs, names } = await runsWith(...args);
    await judgeVaried(runs);
    return names.includes("varied.mixed");
  };
  expect(await isMixed({})).toBe(true);
  expect(await isMixed({ "varied.2": { sentKeys: sent, points: [] } })).toBe(false);
  expect(await isMixed({}, { only: ["varied.mixed"] })).toBe(true);
  expect(await isMixed({}, { only: ["varied.3"] })).toBe(false);
  expect(await isMixed({}, { only: ["varied", "varied.30"] })).toBe(true);
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => `varied.${seed}`);
  expect(await isMixed({}, { only: seeds })).toBe(false);
});

test("a search that was stopped leaves open what failed", async () => {
  const { runs } = await handMade(({ name }, before) => {
    if (name !== "varied.4") return varies;
    return before === 0 ? { ...varies, result: "failed" } : undefined;
  });
  const { checks, problems } = await judgeVaried(runs);
  expect(problems).toEqual([]);
  const results = resultsOf(checks);
  expect([results["varied.3"], results["varied.4"]]).toMatchObject([
    { kind: "held" },
    { reason: { why: "certify was stopped" } },
  ]);
});

test("assumptions that tests set are noted if they did not vary, and the scenario does not set them", async () => {
  const ownAssumptions = ["etag", "rate_limit_code", "retry_after"];
  const { runs } = await runsWith(
    { "varied.1": { ...varies, ownAssumptions } },
    { ownAssumptions: ["retry_after"] },
  );
  const { notes } = await judgeVaried(runs);
  expect(notes.find(({ what }) => what === "varied assumptions")?.why).toBe(
    "your tests set `rate_limit_code`",
  );
});
