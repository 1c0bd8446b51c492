import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChromiumPage, noBrowser, openPage } from "../support/chromium-page.js";
import { conformanceCases } from "../support/conformance-cases.js";
import { type ConformanceCase, comparable, runSteps } from "../support/conformance-script.js";
import { type DoorDifference, type DoorName, doorDifferences, ending } from "../support/door-differences.js";
import { type Door, doors } from "../support/doors.js";
import { expressDoor } from "../support/express-door.js";
import type { Seen } from "../support/send.js";

type Run = (one: Pick<ConformanceCase, "scenario" | "steps">) => Promise<Seen[]>;

function runThrough(door: Door): Run {
  return async ({ scenario, steps }) => {
    const { sandbox, send, close } = await door.open(scenario);
    try {
      return (await runSteps(sandbox, send, steps)).map(comparable);
    } finally {
      await close();
    }
  };
}

const [core, ...others] = doors as [Door, ...Door[]];

function conforms(name: DoorName, run: Run): void {
  test.each(conformanceCases)("$title", async (one) => {
    const seen = await run(one);
    expect(seen).toEqual(await runThrough(core)(one));
    // A rejection by the client itself would be the same everywhere and prove nothing.
    expect(seen.map(({ status }) => status)).not.toContain(0);
  });
  differs(name, run);
}

function differs(name: DoorName, run: Run): void {
  test.each(doorDifferences)("known difference: $request", async ({ sent, ends }: DoorDifference) => {
    const [seen] = await run({ scenario: "key-states", steps: [{ send: sent }] });
    expect(ending(seen as Seen)).toBe(ends[name]);
  });
}

describe("the core is asked through sandbox.fetch", () => differs("core", runThrough(core)));

describe.each([...others, expressDoor])("$name responds as the core", (door) =>
  conforms(door.name as DoorName, runThrough(door)),
);

describe.skipIf(noBrowser)("a browser's service worker gives the same responses as the core", () => {
  let opened: ChromiumPage;
  beforeAll(async () => {
    opened = await openPage(join(import.meta.dirname, "../support/browser-page.js"));
  });
  afterAll(() => opened?.close());
  // The whole case runs in the page: the sandbox, of the built package, is there.
  const runInPage = (one: unknown) =>
    (globalThis as unknown as { runCase: typeof run }).runCase(one as never);
  const run: Run = ({ scenario, steps }) => opened.page.evaluate(runInPage, { scenario, steps });
  conforms("browser", run);
});

if (noBrowser) test.skip(`the browser is left out: ${noBrowser}`);
