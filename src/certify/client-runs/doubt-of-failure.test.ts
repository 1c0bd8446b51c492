import { expect, test } from "vitest";
import { handMade } from "../../../test/certify/hand-made.js";
import type { RunEnd } from "./client-run.js";
import { findDoubtOfFailure } from "./doubt-of-failure.js";

const varied = { purpose: { kind: "varied", seed: 1 }, conditions: { profile: "varied" } } as const;
const failed: Partial<RunEnd> = { result: "failed" };

/** Runs whose varied ones end like this, by how many there were; the plain ones pass. */
const runsThat = (endOf: (before: number) => Partial<RunEnd> | undefined, only?: readonly string[]) =>
  handMade(({ name }, before) => (name === "varied.1" ? endOf(before) : {}), only && { only });

const firstOf = async ({ runs }: Awaited<ReturnType<typeof handMade>>) => await runs.makeOnce(varied);

test("with all varied runs, a failure counts without another run", async () => {
  const made = await runsThat(() => failed);
  expect(await findDoubtOfFailure(made.runs, await firstOf(made))).toBeUndefined();
  expect(made.names).toHaveLength(2);
});

test("with fewer varied runs, a failure counts if it comes again, and two more plain runs are made", async () => {
  const only = ["varied.1"];
  const sure = await runsThat(() => failed, only);
  expect(await findDoubtOfFailure(sure.runs, await firstOf(sure))).toBeUndefined();
  expect(sure.names.filter((name) => name === "plain")).toHaveLength(3);
  const once = await runsThat((before) => (before === 0 ? failed : {}), only);
  expect((await findDoubtOfFailure(once.runs, await firstOf(once)))?.why).toBe(
    "the command fails, but only in some runs",
  );
});

test("a failure does not count if the last plain run is not made", async () => {
  const made = await handMade(
    ({ name }, before) => (name === "varied.1" ? failed : before === 2 ? undefined : {}),
    {
      only: ["varied.1"],
    },
  );
  expect((await findDoubtOfFailure(made.runs, await firstOf(made)))?.why).toBe("certify was stopped");
});
