import type { FaultOutcomeId } from "../../../src/rules/fault-effects.js";
import { pick, type RandomStream } from "../../../src/rules/seed.js";
import type { TroubleKind } from "./client.js";
import { withHabits } from "./habits.js";
import { type Extra, type KeyRef, keys, type Suite, type Test } from "./suite.js";

/** How programs are built that ask for the same key in several places: each changes a suite without a flaw. */
const shapes: Readonly<Record<string, (suite: Suite, draw: RandomStream) => Partial<Suite>>> = {
  "keeps accepted keys, and asks for one before its tests": (suite, draw) => {
    const key = keyOf(suite, draw);
    const warmUps = Array.from({ length: between(draw, 1, 2) }, () => beside(draw, "warm-up", key));
    const direct = testsWith(draw, key, { client: { caches: false } }, [1, 3]);
    return {
      client: { ...suite.client, caches: true },
      extras: [...suite.extras, ...warmUps],
      tests: mixedIn(suite.tests, [...testsWith(draw, key, {}, [0, 2]), ...direct], draw),
    };
  },
  "polls until it gets a 200": (suite, draw) => {
    const key = keyOf(suite, draw);
    const polls = { most: between(draw, 2, 10), everyMs: pick(draw, [20, 100, 500, 1000, 3000]) };
    const polling = testsWith(draw, key, { polls }, [1, 3]);
    return { tests: mixedIn(suite.tests, [...polling, ...testsWith(draw, key, {}, [0, 2])], draw) };
  },
  "fetches when a value is needed first": (suite, draw) => {
    const key = keyOf(suite, draw);
    const client = { caches: true, shares: true, keepsRejected: coin(draw), place: "lazy" };
    const users = testsWith(
      draw,
      key,
      { client, times: between(draw, 1, 4), isParallel: coin(draw) },
      [1, 3],
    );
    return { tests: mixedIn(suite.tests, [...users, ...testsWith(draw, key, {}, [0, 2])], draw) };
  },
  "shares its calls in flight": (suite, draw) => {
    const key = keyOf(suite, draw);
    const callers = {
      times: between(draw, 2, 5),
      isParallel: true,
      staggerMs: pick(draw, [0, 1, 50, 150, 700]),
    };
    const flights = testsWith(draw, key, callers, [1, 2]);
    const direct = testsWith(draw, key, { client: { shares: coin(draw) } }, [0, 2]);
    return {
      client: { ...suite.client, shares: true },
      tests: mixedIn(suite.tests, [...flights, ...direct], draw),
    };
  },
  "keeps a health check for some time": (suite, draw) => {
    const key = keyOf(suite, draw);
    const keepsMs = pick(draw, [300, 2000, 10_000]);
    const client = { caches: true, keepsMs, keepsRejected: coin(draw), place: "health" };
    const check = { client, times: between(draw, 1, 4), pauseMs: pick(draw, [0, 100, 1000, 2500]) };
    const checks = testsWith(draw, key, { ...check, toleratesFirst: coin(draw) }, [1, 2]);
    return { tests: mixedIn(suite.tests, [...checks, ...testsWith(draw, key, {}, [0, 3])], draw) };
  },
  "fetches once before each test": (suite, draw) => {
    const key = keyOf(suite, draw);
    const client = { caches: true, keepsRejected: coin(draw), place: "fixture" };
    const fixture = { ...beside(draw, "each test", key), client, isRequired: coin(draw) };
    const users = testsWith(draw, key, { client }, [0, 2]);
    return {
      extras: [...suite.extras, fixture],
      tests: mixedIn(suite.tests, [...users, ...testsWith(draw, key, {}, [0, 3])], draw),
    };
  },
  "hands failures on": (suite, draw) => {
    const handedOn = troubles.filter(() => draw() % 3 > 0);
    return {
      client: { ...suite.client, readsAgain: false, survives: (trouble) => !handedOn.includes(trouble) },
      allow: [...suite.allow, ...handedOn.flatMap((trouble) => faultsOf[trouble])],
      // Its own faults would end its tests.
      faults: "leaves them",
    };
  },
};

/** The faults after which a client has this trouble. */
const faultsOf: Readonly<Record<TroubleKind | "status" | "invalid", readonly FaultOutcomeId[]>> = {
  status: ["fault.status"],
  reset: ["fault.reset"],
  timeout: ["fault.hang", "fault.latency", "fault.slow"],
  truncated: ["fault.truncate"],
  invalid: ["fault.malformed"],
};
const troubles = Object.keys(faultsOf) as (keyof typeof faultsOf)[];

const between = (draw: RandomStream, min: number, max: number) => min + (draw() % (max - min + 1));
const coin = (draw: RandomStream) => draw() % 2 === 0;

/** A key that works and whose response a test uses: most often the default key. */
function keyOf({ tests }: Suite, draw: RandomStream): KeyRef {
  const works = tests.map(({ key }) => key).filter((key) => keys[key] === 200 && key !== "retiring");
  return draw() % 3 > 0 ? "active" : pick(draw, works);
}

/** Tests that send the key, as many as the range allows. */
function testsWith(
  draw: RandomStream,
  key: KeyRef,
  change: Partial<Test>,
  [min, max]: readonly [min: number, max: number],
): Test[] {
  return Array.from({ length: between(draw, min, max) }, () => ({
    key,
    times: 1,
    isParallel: false,
    ...change,
  }));
}

const beside = (draw: RandomStream, when: Extra["when"], key: KeyRef): Extra => ({
  when,
  key,
  count: "fixed",
  max: between(draw, 1, 2),
});

/** Puts tests at any place between others. */
const mixedIn = (tests: readonly Test[], added: readonly Test[], draw: RandomStream): Test[] =>
  added.reduce((mixed, test) => mixed.toSpliced(draw() % (mixed.length + 1), 0, test), [...tests]);

/** Returns a suite without a flaw whose program has one or two of these shapes; half of them have habits, too. */
export function withShapes(suite: Suite, draw: RandomStream): Suite {
  const names = Object.keys(shapes);
  const chosen = new Set([pick(draw, names)]);
  if (coin(draw)) chosen.add(pick(draw, names));
  let changed: Suite = suite;
  for (const name of chosen) changed = { ...changed, ...shapes[name]?.(changed, draw) };
  changed = { ...changed, habits: [...chosen] };
  return coin(draw) ? changed : withHabits(changed, draw);
}
