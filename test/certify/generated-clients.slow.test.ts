import { afterAll, expect, test } from "vitest";
import { type RandomStream, randomStream } from "../../src/rules/seed.js";
import { isNightly, propertySeed } from "../support/property-seed.js";
import { certifySuite, pointsThatPass } from "./generated/certify-suite.js";
import { type Flaw, flaws, ofReading, withFlaw, withFlaws } from "./generated/flaws.js";
import { withHabits } from "./generated/habits.js";
import { falseIn, findingsIn, type Judgment, judge } from "./generated/judge.js";
import { withShapes } from "./generated/shapes.js";
import { drawSuite, isSteady, type Suite, sendsKeyTwice } from "./generated/suite.js";

// The honesty of `certify`: it certifies clients that are known to be right, or to have exactly one flaw.

const { seed } = propertySeed;
const count = Number(process.env.CLIENTS ?? (isNightly ? 2000 : 500));
// So few that a busy machine certifies them in time.
const batchSize = 10;
const batches = Array.from({ length: count / batchSize }, (_, at) => at * batchSize);

interface Judged {
  /** To make it again: the seed and the number of the client. */
  readonly client: string;
  readonly does: string;
  readonly habits: readonly string[];
  /** Whether its suite sends a fixed number of requests, and a key that works twice. */
  readonly isSteady: boolean;
  readonly judgment: Judgment;
  readonly findings: readonly string[];
  /** The kinds of resends that are not judged. */
  readonly openResends: readonly string[];
  readonly runs: number;
}

/** Two of five clients have none; the others have each flaw in turn. */
function flawOf(number: number): Flaw | undefined {
  const [group, place] = [Math.floor(number / 5), number % 5];
  return place < 2 ? undefined : flaws[(3 * group + place - 2) % flaws.length];
}

/** Three of four clients without a flaw have habits or shapes that could be taken for one. */
function suiteOf(number: number, draw: RandomStream): Suite {
  const suite = drawSuite(draw);
  if (flawOf(number) !== undefined || number % 10 === 0) return suite;
  return number % 10 === 1 ? withHabits(suite, draw) : withShapes(suite, draw);
}

async function certified(number: number): Promise<Judged> {
  const draw = randomStream(seed, "client", String(number));
  const flaw = flawOf(number);
  const suite = suiteOf(number, draw);
  const subject = flaw === undefined ? suite : withFlaw(suite, flaw);
  const certificate = await certifySuite(subject, {
    label: `${seed} ${number}`,
    // A person who looks for such a flaw adds --faults.
    hasAllFaults: draw() % 2 === 0 || flaw?.causes.some((cause) => cause.startsWith("fault.")) === true,
  });
  return {
    client: `PROPERTY_SEED=${seed}, client ${number}`,
    does: flaw?.does ?? "has no flaw",
    habits: suite.habits ?? [],
    isSteady: isSteady(subject) && sendsKeyTwice(subject),
    judgment: judge(certificate, flaw),
    findings: [...new Set(findingsIn(certificate))],
    openResends: certificate.checks.flatMap(({ group, name, result }) =>
      group === "resend" && result.kind === "not_judged" ? name : [],
    ),
    runs: certificate.runs,
  };
}

const judged: Judged[] = [];
const having = (...judgments: Judgment[]) => judged.filter(({ judgment }) => judgments.includes(judgment));
const isCorrect = ({ does }: Judged) => does === "has no flaw";

test.each(batches)(
  "no correct client is accused, and no flaw passes in silence: clients from %i on",
  async (first) => {
    const batch: Judged[] = [];
    for (let number = first; number < first + batchSize; number++) batch.push(await certified(number));
    judged.push(...batch);
    const wrong: readonly Judgment[] = ["accused", "misnamed", "silent"];
    expect(batch.filter(({ judgment }) => wrong.includes(judgment))).toEqual([]);
  },
);

test("at least 95% of the flaws of steady suites are named or stated, and at most 2% of the correct clients are not judged, 6% with habits", () => {
  const flawed = judged.filter((one) => !isCorrect(one));
  expect(flawed).toHaveLength((count * 3) / 5);
  const steady = flawed.filter((one) => one.isSteady);
  const shown = steady.filter(({ judgment }) => judgment === "named" || judgment === "stated");
  expect(shown.length / steady.length).toBeGreaterThanOrEqual(0.95);
  const correct = judged.filter(isCorrect);
  for (const [most, some] of [
    [0.02, correct.filter(({ habits }) => habits.length === 0)],
    [0.06, correct.filter(({ habits }) => habits.length >= 2)],
  ] as const) {
    expect(some).toHaveLength(count / 5);
    const open = some.filter(({ judgment }) => judgment === "not judged");
    expect(open.length / some.length).toBeLessThanOrEqual(most);
  }
});

test.each(Array.from({ length: count / 10 }, (_, number) => number))(
  "each sentence on two flaws at once is true: client %i",
  async (number) => {
    const draw = randomStream(seed, "two flaws", String(number));
    const reading = ofReading[number % ofReading.length] as Flaw;
    const other = flaws[draw() % flaws.length] as Flaw;
    const suite = withFlaws(drawSuite(draw), reading, other);
    const certificate = await certifySuite(suite, { label: `two ${seed} ${number}`, hasAllFaults: true });
    expect(falseIn(certificate, reading, other)).toEqual([]);
    for (const problem of certificate.problems) expect(await pointsThatPass(suite, problem)).toEqual([]);
  },
);

test.each([10, 30, 50].flatMap((percent) => Array.from({ length: count / 60 }, (_, at) => [percent, at])))(
  "a suite that fails in %i of 100 runs gets no cause: client %i",
  async (flakiness, number) => {
    const draw = randomStream(seed, "flaky", String(number));
    const suite = { ...drawSuite(draw), flakiness };
    const certificate = await certifySuite(suite, { label: `flaky ${seed} ${flakiness} ${number}` });
    expect(certificate.problems).toEqual([]);
  },
);
test("of the correct clients with steady suites, few have a kind of resend that is not judged", () => {
  const steady = judged.filter((one) => isCorrect(one) && one.isSteady);
  const kinds = new Set(steady.flatMap(({ openResends }) => openResends));
  for (const kind of kinds) {
    const open = steady.filter(({ openResends }) => openResends.includes(kind));
    const isTimed = kind.startsWith("resend.429") || kind.startsWith("resend.503");
    const most = Math.ceil(steady.length * (isTimed ? 0.03 : 0.08));
    expect(open.length, kind).toBeLessThanOrEqual(most);
  }
});

afterAll(() => {
  const open = judged
    .filter(({ judgment }) => judgment !== "named" && judgment !== "stated" && judgment !== "passed")
    .map(
      (one) =>
        `  ${one.judgment}${one.isSteady ? ", steady" : ""}: ${[one.client, one.does, ...one.habits].join(": ")}\n`,
    );
  const runs = judged
    .filter(isCorrect)
    .map((one) => one.runs)
    .sort((one, other) => one - other);
  const numbers = `${judged.length} clients: ${having("named").length} flaws named, ${having("stated").length} stated, ${open.length} others; a correct one takes ${runs[runs.length >> 1]} runs in the median, ${runs.at(-1)} at most.\n`;
  process.stdout.write([numbers, ...open].join(""));
});
