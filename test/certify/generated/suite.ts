import type { Profile } from "../../../src/rules/assumptions.js";
import { pick, type RandomStream } from "../../../src/rules/seed.js";
import { operations } from "../../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../../src/sandbox/sandbox-state.js";
import { secretToSend } from "../../../src/sandbox/secrets.js";
import { restartSandbox } from "../../../src/sandbox/start-sandbox.js";
import { type Client, type Connection, goodClient, type Result, Unexpected, whoami } from "./client.js";
import type { VirtualTime } from "./virtual-time.js";

/** What a test sends, and what it expects. */
export interface Test {
  readonly key: KeyRef;
  /** How often. A range is drawn again in each run. */
  readonly times: number | readonly [min: number, max: number];
  readonly isParallel: boolean;
  /** How far apart its requests start, if they are parallel. Default: all at once. */
  readonly staggerMs?: number;
  /** How long it waits between requests that are not parallel. */
  readonly pauseMs?: number;
  /** How often, and how far apart, it asks until the status is the one that it expects. Default: once. */
  readonly polls?: { readonly most: number; readonly everyMs: number };
  /** Whether only its last response must be the one that it expects. */
  readonly toleratesFirst?: boolean;
  /** What the function that it calls does otherwise than the others of the client. */
  readonly client?: Partial<Client>;
}

/** A test suite of a client: plain data, except for the functions of its client. */
export interface Suite {
  readonly client: Client;
  readonly tests: readonly Test[];
  readonly order: "fixed" | "shuffled";
  /** Where its sandbox is: the run's server, or its own in the process, the same for all tests or a new one for each. */
  readonly place: "server" | "own" | "own for each test";
  /** How the client waits: in real time, with fake timers, by moving the sandbox's clock, or not at all, as its tests replace the pause. */
  readonly timers: "real" | "fake" | "moves the clock" | "nothing";
  /** What it does before each test. */
  readonly resets: boolean;
  readonly faults: "leaves them" | "clears them" | "sets one";
  /** The profile with which it starts the scenario again before each test, if it sets one. */
  readonly profile?: Profile;
  /** The seed of its own sandboxes, if it sets one. */
  readonly seed?: number;
  /** Whether two processes run its tests, half of them each. */
  readonly hasWorkers?: boolean;
  /** How often its runner repeats a test that fails. */
  readonly repeats: number;
  /** Whether it stops at the first test that fails. */
  readonly bails: boolean;
  /** Whether its command repeats the result of its first run without a request. */
  readonly runsOnce: boolean;
  /** In how many of 100 runs its command fails, whatever its tests do. Default: none. */
  readonly flakiness?: number;
  /** In how many of 100 runs its command never ends: before its first test, or after its last one. Default: none. */
  readonly hangs?: number;
  /** The outcomes whose wrong answer it survives on purpose. */
  readonly allow: readonly string[];
  /** The requests whose results nobody uses, beside the tests. */
  readonly extras: readonly Extra[];
  /** The habits of its client, if it has been given some. */
  readonly habits?: readonly string[];
  /** Whether it compares the status of a response with what it expects. */
  readonly checks: (key: KeyRef) => boolean;
}

/** Whether the suite sends equally many requests in each run in which nothing fails, and its runner hides no failure. */
export const isSteady = ({ tests, extras, client, repeats }: Suite) =>
  repeats === 0 &&
  tests.every(({ times }) => typeof times === "number") &&
  extras.every(({ when, count }) => count === "fixed" && when !== "heartbeat") &&
  client.hedgeMs !== 0;

/** Whether such a suite sends at least twice a key that always works, and whose rejection its client does not survive on purpose. */
export function sendsKeyTwice({ tests, extras, client, faults }: Suite): boolean {
  if (client.caches || faults === "sets one") return false;
  const timesOf = ({ when, max }: Extra) =>
    when === "diagnosis" ? 0 : max * (when === "each test" ? tests.length : 1);
  return refsOf(200).some((ref) => {
    const inTests = tests.filter(({ key }) => key === ref).map(({ times }) => Number(times));
    const beside = extras.filter(({ key }) => key === ref).map(timesOf);
    const count = [...inTests, ...beside].reduce((sum, times) => sum + times, 0);
    return count > 1 && client.secondKeys[ref] === undefined;
  });
}

/** Requests with a key whose results nobody uses: before, after or between the tests, as a heartbeat, or after one that failed. */
export interface Extra {
  readonly when: "warm-up" | "teardown" | "each test" | "heartbeat" | "diagnosis";
  readonly key: KeyRef;
  /** How often: always the same, drawn in each run, one more in each run, or only in some runs, as a file decides. */
  readonly count: "fixed" | "random" | "growing" | "file";
  readonly max: number;
  /** How far apart the requests of a heartbeat are. Default: some milliseconds. */
  readonly everyMs?: number;
  /** What the function that it calls does otherwise than the others of the client. */
  readonly client?: Partial<Client>;
  /** Whether a test fails without a success. */
  readonly isRequired?: boolean;
}

/** The keys of `key-states` and the status that each gets, if the client does not wait for a limit. */
export const keys = {
  active: 200,
  live: 200,
  legacy: 200,
  "legacy-live": 200,
  retiring: 200,
  replacement: 200,
  revoked: 401,
  expired: 401,
  rotated: 401,
  none: 401,
  malformed: 401,
  unknown: 401,
  "wrong-scope": 403,
  "organization-inactive": 403,
  "live-not-approved": 403,
  "live-suspended": 403,
  "rate-limited": 429,
  "rate-limited-minute": 429,
} as const;
export type KeyRef = keyof typeof keys;
const refsOf = (status: number) => (Object.keys(keys) as KeyRef[]).filter((ref) => keys[ref] === status);

const codes: Readonly<Partial<Record<KeyRef, string>>> = {
  "wrong-scope": "insufficient_scope",
  "organization-inactive": "access_denied",
  "live-not-approved": "live_access_not_approved",
  "live-suspended": "live_access_not_approved",
};

/** Draws a suite without a flaw. */
export function drawSuite(draw: RandomStream): Suite {
  const chance = (percent: number) => draw() % 100 < percent;
  const between = (min: number, max: number) => min + (draw() % (max - min + 1));
  const place = pick(draw, ["server", "server", "own", "own for each test"] as const);
  const resets = chance(30);
  const profile = chance(15) && pick(draw, ["minimal", "typical"] as const);
  const tests = drawTests(draw, resets || profile !== false || place === "own for each test");
  const seed = place !== "server" && chance(2) && between(1, 99);
  const secondKeys: Client["secondKeys"] = chance(8)
    ? pick(draw, [{ retiring: "replacement" }, { active: "replacement" }])
    : {};
  return {
    client: {
      ...goodClient,
      tries: between(2, 8),
      limitTries: pick(draw, [1, 2, 3, 5]),
      pauseMs: pick(draw, [100, 250, 500, 1000]),
      timeoutMs: between(3, 12) * 1000,
      ...(chance(10) && { hedgeMs: chance(30) ? 0 : between(20, 1500) }),
      readsAgain: chance(15),
      caches: chance(8),
      secondKeys,
    },
    tests,
    order: chance(25) ? "shuffled" : "fixed",
    place,
    timers: pick(
      draw,
      place === "server" ? ["real", "real", "moves the clock"] : ["real", "fake", "moves the clock"],
    ),
    resets,
    faults: pick(draw, [...Array(8).fill("leaves them"), "clears them", "clears them", "sets one"] as const),
    ...(profile && { profile }),
    ...(seed && { seed }),
    repeats: chance(10) ? between(1, 2) : 0,
    bails: chance(20),
    runsOnce: false,
    allow: secondKeys.retiring ? ["200.retiring"] : secondKeys.active ? ["200.test"] : [],
    // Tests must use what else is sent, or its wrong answers are rightly not noticed.
    extras: drawExtras(draw).filter(({ key }) => tests.some((test) => test.key === key)),
    checks: () => true,
  };
}

/** A suite without a flaw and without tests, whose client is the usual one. */
export const goodSuite: Suite = {
  client: { ...goodClient, tries: 3, limitTries: 1, pauseMs: 100, timeoutMs: 5000 },
  tests: [],
  order: "fixed",
  place: "server",
  timers: "real",
  resets: false,
  faults: "leaves them",
  repeats: 0,
  bails: false,
  runsOnce: false,
  allow: [],
  extras: [],
  checks: () => true,
};

const extraTimes = ["warm-up", "teardown", "each test", "heartbeat", "diagnosis"] as const;

/** Two of five suites send more than their tests do. */
function drawExtras(draw: RandomStream): Extra[] {
  const count = Math.max(0, (draw() % 5) - 2);
  return Array.from({ length: count }, () => ({
    when: pick(draw, extraTimes),
    key: pick(draw, ["active", "active", "active", "live"] as const),
    count: pick(draw, ["fixed", "random", "growing", "file"] as const),
    max: 1 + (draw() % 4),
  }));
}

/** `isFresh`: whether each test has a new sandbox, so that no other test has waited until the minute was over. */
function drawTests(draw: RandomStream, isFresh: boolean): Test[] {
  const chance = (percent: number) => draw() % 100 < percent;
  const between = (min: number, max: number) => min + (draw() % (max - min + 1));
  const isRandom = chance(25);
  // Enough for a certificate, and every status, so that each flaw has a response where it shows.
  const refs = [200, 401, 403].flatMap((status) => {
    const [first, second, ...others] = shuffled(refsOf(status), draw);
    return [first, second, ...others.filter(() => chance(30))] as KeyRef[];
  });
  const tests = [...new Set<KeyRef>(["active", "rate-limited", ...refs])].map((key): Test => {
    const times = isRandom && chance(50) ? ([1, between(2, 6)] as const) : chance(30) ? between(2, 5) : 1;
    return {
      key,
      times,
      isParallel: chance(15),
      ...(keys[key] === 200 && chance(3) && { polls: { most: 5, everyMs: 100 } }),
    };
  });
  if (isFresh && chance(50)) tests.push({ key: "rate-limited-minute", times: 1, isParallel: false });
  return shuffled(tests, draw);
}

/** Where a suite runs: with the sandboxes of a run, and its own random numbers. */
export interface SuiteRun {
  readonly time: VirtualTime;
  readonly random: RandomStream;
  /** The sandbox of the run's server. */
  readonly server: () => SandboxState;
  /** Starts a sandbox in the client's process, or in one of its two. */
  readonly start: (options: Pick<Suite, "seed">, worker: number) => SandboxState;
  /** How often the command has run, with this one. */
  readonly number: number;
}

const forever = new Promise(() => {});

/** Runs the tests of a suite, and resolves to the exit code of their command. */
export async function runSuite(suite: Suite, run: SuiteRun): Promise<number> {
  const { random } = run;
  if (suite.runsOnce && run.number > 1) return 0;
  const { hangs = 0 } = suite;
  const isHung = hangs > 0 && run.number > 1 && random() % 100 < hangs;
  const isHungAtOnce = isHung && random() % 2 === 0;
  if (isHungAtOnce) await forever;
  const tests = suite.order === "shuffled" ? shuffled(suite.tests, random) : suite.tests;
  const ofWorkers = suite.hasWorkers ? [0, 1].map((odd) => tests.filter((_, at) => at % 2 === odd)) : [tests];
  const failures = await Promise.all(ofWorkers.map((some, worker) => runTests(suite, run, some, worker)));
  if (isHung) await forever;
  const isUnlucky = random() % 100 < (suite.flakiness ?? 0) && run.number > 1;
  return failures.every((count) => count === 0) && !isUnlucky ? 0 : 1;
}

/** Runs tests in one process, and resolves to the number of those that fail. */
async function runTests(
  suite: Suite,
  run: SuiteRun,
  tests: readonly Test[],
  worker: number,
): Promise<number> {
  const { time, random } = run;
  let sandbox = suite.place === "server" ? run.server() : run.start(suite, worker);
  const connection: Connection = {
    time,
    sandbox: () => sandbox,
    wait: waiting(suite, time, () => sandbox),
    now: suite.timers === "moves the clock" ? () => sandbox.clock.now() : time.wall,
    random,
    secretOf: (ref: string) => (ref === "none" ? undefined : secretToSend(sandbox, ref)),
    stored: new Map(),
    running: new Map(),
    gates: new Map(),
    worked: new Set(),
    retries: { count: 0 },
  };
  const send = (when: Extra["when"]) => sendExtras(suite, when, connection, run);
  let isOver = false;
  const heartbeat = beat(suite, connection, () => isOver);
  await send("warm-up");
  const passes = async (test: Test) => {
    if (suite.place === "own for each test") sandbox = run.start(suite, worker);
    prepare(suite, sandbox, test);
    try {
      await send("each test");
      await runTest(suite, test, connection, random);
      return true;
    } catch {
      await send("diagnosis");
      return false;
    }
  };
  let failures = 0;
  for (const test of tests) {
    let hasPassed = await passes(test);
    for (let left = suite.repeats; left > 0 && !hasPassed; left--) hasPassed = await passes(test);
    failures += hasPassed ? 0 : 1;
    if (suite.bails && failures > 0) break;
  }
  await send("teardown");
  isOver = true;
  await heartbeat;
  return failures;
}

async function sendExtras(
  { extras, client }: Suite,
  when: Extra["when"],
  connection: Connection,
  { random, number }: SuiteRun,
): Promise<void> {
  // Below the limit of a minute, whose rejection no test would notice.
  const most = client.hedgeMs === 0 ? 1 : 3;
  for (const extra of extras.filter((one) => one.when === when)) {
    const { count, max, key } = extra;
    const times = {
      fixed: max,
      random: random() % (max + 1),
      growing: number % 4,
      file: number % 2 ? max : 0,
    }[count];
    for (let i = 0; i < Math.min(times, most); i++) {
      const result = await whoami({ ...client, ...extra.client }, connection, key).catch(() => undefined);
      if (extra.isRequired && result?.status !== keys[key]) throw new Unexpected(`${key} before a test`);
    }
  }
}

/** Fewer than the limit of a minute, and more than most suites send. */
const maxBeats = 30;

/** Sends requests until the tests are over, whose results nobody uses. */
async function beat({ extras }: Suite, connection: Connection, isOver: () => boolean): Promise<void> {
  const extra = extras.find(({ when }) => when === "heartbeat");
  if (extra === undefined) return;
  const once = { ...goodClient, tries: 1, limitTries: 1, pauseMs: 1000, timeoutMs: 500 };
  for (let i = 0; i < maxBeats && !isOver(); i++) {
    await whoami(once, connection, extra.key).catch(() => {});
    await connection.time.sleep(extra.everyMs ?? extra.max * 3 - 2);
  }
}

function prepare({ resets, faults, profile }: Suite, sandbox: SandboxState, { key }: Test): void {
  if (profile !== undefined) restartSandbox(sandbox, { profile });
  else if (resets) restartSandbox(sandbox);
  if (faults === "clears them") operations.faults(sandbox, []);
  const isKnown = !["none", "malformed", "unknown"].includes(key);
  if (faults === "sets one" && isKnown) {
    operations.faults(sandbox, [{ when: { key, requests: [1] }, then: { status: 503 } }]);
  }
}

function waiting({ timers }: Suite, time: VirtualTime, sandbox: () => SandboxState): Connection["wait"] {
  return async (ms) => {
    if (timers === "real") return time.sleep(ms);
    if (timers === "fake") return time.fake(ms);
    if (timers === "nothing") return;
    operations.advance(sandbox(), { by: Math.ceil(ms) });
  };
}

async function runTest(
  suite: Suite,
  { key, times, isParallel, staggerMs = 0, pauseMs = 0, polls, toleratesFirst, ...test }: Test,
  connection: Connection,
  random: RandomStream,
): Promise<void> {
  const client = { ...suite.client, ...test.client };
  const [min, max] = typeof times === "number" ? [times, times] : times;
  const count = min + (random() % (max - min + 1));
  const request = async (nth: number) => {
    let result = await whoami(client, connection, key);
    for (let left = polls?.most ?? 1; left > 1 && result.status !== keys[key]; left--) {
      await connection.wait(polls?.everyMs ?? 0);
      result = await whoami(client, connection, key);
    }
    const isTolerated = toleratesFirst && nth < count - 1;
    if (suite.checks(key) && !isTolerated) expectResult(key, result, client);
  };
  const later = (nth: number) => connection.time.sleep(nth * staggerMs).then(() => request(nth));
  if (isParallel) return void (await Promise.all(Array.from({ length: count }, (_, nth) => later(nth))));
  for (let nth = 0; nth < count; nth++) {
    if (nth > 0 && pauseMs > 0) await connection.wait(pauseMs);
    await request(nth);
  }
}

function expectResult(key: KeyRef, { status, code, body, waits }: Result, { limitTries }: Client): void {
  // A client that waits until the minute is over gets its response then.
  const isServed = key === "rate-limited-minute" && limitTries > 1;
  if (isServed && waits === 0) throw new Unexpected(`${key}: no wait`);
  const expected = isServed ? 200 : keys[key];
  if (status !== expected) throw new Unexpected(`${key}: ${status} instead of ${expected}`);
  const expectedCode = codes[key] ?? (status === 401 ? "unauthorized" : undefined);
  if (expectedCode !== undefined && code !== expectedCode) throw new Unexpected(`${key}: ${code}`);
  if (status === 200 && !Array.isArray(body.data.scopes)) throw new Unexpected("no scopes");
}

function shuffled<Item>(items: readonly Item[], draw: RandomStream): Item[] {
  return items
    .map((item) => ({ item, place: draw() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
