import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChromiumPage, noBrowser, openPage } from "../support/chromium-page.js";
import { type Door, doors } from "../support/doors.js";
import { expressDoor } from "../support/express-door.js";
import { sectionOf } from "../support/pages.js";
import type { Seen } from "../support/send.js";
import { conformanceCases } from "./conformance-cases.js";
import { type ConformanceCase, comparable, type KeyedSent, runSteps } from "./conformance-script.js";

/** The entry points by name, in the order of the columns in test/api/README.md. */
const doorNames = ["core", "msw", "socket", "express", "browser"] as const;
type DoorName = (typeof doorNames)[number];

/** A request that does not end in the same way behind every entry point. */
interface DoorDifference {
  /** How test/api/README.md calls it. */
  readonly request: string;
  readonly sent: KeyedSent;
  readonly ends: Readonly<Record<DoorName, string>>;
}

/** How a request ended, in a few words: status and error code, or the error with which the client rejected to send it. */
function ending({ status, body }: Seen): string {
  if (status === 0) return `throws ${body}`;
  if (body === "" || body.startsWith('{"data":')) return String(status);
  const code = /^\{"error":\{"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? `${status} of the app` : `${status} \`${code}\``;
}

const requests: Readonly<Record<string, KeyedSent>> = {
  "a GET with a body": { key: "active", body: "{}" },
  "the method TRACE": { key: "active", method: "TRACE" },
  "a path outside of `/v1/relying-party`": { key: "active", path: "/v2/anything" },
  "a path with `..` in it": { key: "active", path: "/v1/relying-party/../relying-party/me" },
  "the path `//`": { key: "active", path: "//" },
  "a key of 20,000 letters": { headers: { "x-api-key": "x".repeat(20_000) } },
  "`Accept: msw/passthrough`": { key: "active", headers: { accept: "msw/passthrough" } },
};

const doorDifferences: readonly DoorDifference[] = sectionOf(
  "test/api/README.md",
  "Where the integrations differ",
)
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\|[ -]*\|/.test(line))
  .map((line) => {
    const [request = "", ...ends] = line
      .slice(2)
      .split(" | ")
      .map((cell) => cell.trim());
    const sent = requests[request];
    if (sent === undefined) throw new Error(`test/api/README.md: no test sends ${request}`);
    const byDoor = Object.fromEntries(doorNames.map((name, column) => [name, ends[column]]));
    return { request, sent, ends: byDoor as Record<DoorName, string> };
  });

type Run = (one: Pick<ConformanceCase, "scenario" | "steps">) => Promise<Seen[]>;

function runThrough(door: Door): Run {
  return async ({ scenario, steps }) => {
    const { sandbox, send } = await door.open(scenario);
    return (await runSteps(sandbox, send, steps)).map(comparable);
  };
}

const [core, ...others] = doors as [Door, ...Door[]];

/** What the core responds in each case, for all entry points. */
const expected = new Map<ConformanceCase, Promise<Seen[]>>();

function responsesOfCore(one: ConformanceCase): Promise<Seen[]> {
  const seen = expected.get(one) ?? runThrough(core)(one);
  expected.set(one, seen);
  return seen;
}

function conforms(name: DoorName, run: Run): void {
  test.each(conformanceCases)("$title", async (one) => {
    const seen = await run(one);
    expect(seen).toEqual(await responsesOfCore(one));
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
    opened = await openPage(join(import.meta.dirname, "browser-page.js"));
  });
  afterAll(() => opened?.close());
  // The whole case runs in the page: the sandbox, of the built package, is there.
  const runInPage = (one: unknown) =>
    (globalThis as unknown as { runCase: typeof run }).runCase(one as never);
  const run: Run = ({ scenario, steps }) => opened.page.evaluate(runInPage, { scenario, steps });
  conforms("browser", run);
});

if (noBrowser) test.skip(`the browser is left out: ${noBrowser}`);
