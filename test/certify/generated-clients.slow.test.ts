import { afterAll, expect, test } from "vitest";
import { nameOf } from "../../src/certify/checks/check.js";
import { type RandomStream, randomStream } from "../../src/rules/seed.js";
import { isNightly, propertySeed } from "../support/property-seed.js";
import { breaksAlone, certifySuite } from "./generated/certify-suite.js";
import { type Flaw, flaws, ofReading, withFlaw, withFlaws } from "./generated/flaws.js";
import { withHabits } from "./generated/habits.js";
import { falseIn, findingsIn, type Judgment, judge } from "./generated/judge.js";
import { withShapes } from "./generated/shapes.js";
import { drawSuite, isSteady, type Suite, sendsKeyTwice } from "./generated/suite.js";

// The honesty of `certify`: it certifies clients that are known to be right, or to have exactly one flaw.

const { seed } = propertySeed;
const count = Number(process.env.CLIENTS ?? (isNightly ? 2000 : 500));
// So few that a busy machine certifies them in time.
const batchSize = 5;
const batches = Array.from({ length: count / batchSize }, (_, at) => at * batchSize);

/** What a client is drawn as. */
type Group = "plain" | "with habits" | "with shapes" | "flawed";

interface Judged {
  readonly group: Group;
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

/** Whose clients send a key again after a 401 or 403. */
const ofResending = flaws.filter(({ client, causes }) =>
  causes.every((cause) => client?.triesAfter !== undefined && cause.startsWith("resend.")),
);

/** Two of five clients have none; the others have each flaw in turn. */
function flawOf(number: number): Flaw | undefined {
  const [group, place] = [Math.floor(number / 5), number % 5];
  return place < 2 ? undefined : flaws[(3 * group + place - 2) % flaws.length];
}

/** Three of four clients without a flaw do what could be taken for one. */
function groupOf(number: number): Group {
  if (flawOf(number) !== undefined) return "flawed";
  return ({ 0: "plain", 1: "with habits" } as const)[number % 10] ?? "with shapes";
}

function drawClient(number: number, draw: RandomStream): Suite {
  const group = groupOf(number);
  const suite = drawSuite(draw);
  if (group === "with habits") return withHabits(suite, draw);
  return group === "with shapes" ? withShapes(suite, draw) : suite;
}

async function certified(number: number): Promise<Judged> {
  const draw = randomStream(seed, "client", String(number));
  const flaw = flawOf(number);
  const suite = drawClient(number, draw);
  const subject = flaw === undefined ? suite : withFlaw(suite, flaw);
  const certificate = await certifySuite(subject, {
    label: `${seed} ${number}`,
    // A person who looks for such a flaw adds --faults.
    hasAllFaults: draw() % 2 === 0 || flaw?.causes.some((cause) => cause.startsWith("fault.")) === true,
  });
  return {
    group: groupOf(number),
    client: `PROPERTY_SEED=${seed}, client ${number}`,
    does: flaw?.does ?? "has no flaw",
    habits: suite.habits ?? [],
    isSteady: isSteady(subject) && sendsKeyTwice(subject),
    judgment: judge(certificate, flaw),
    findings: [...new Set(findingsIn(certificate))],
    openResends: certificate.checks.flatMap(({ check, result }) =>
      check.kind === "resend" && result.kind === "not_judged" ? nameOf(check) : [],
    ),
    runs: certificate.runs,
  };
}

const judged: Judged[] = [];
const having = (...judgments: Judgment[]) => judged.filter(({ judgment }) => judgments.includes(judgment));
const isCorrect = ({ group }: Judged) => group !== "flawed";
/** Judgments that nobody may get. */
const wrong: readonly Judgment[] = ["misnamed", "silent"];

test.each(batches)("no flaw passes in silence, or as another one: clients from %i on", async (first) => {
  const batch: Judged[] = [];
  for (let number = first; number < first + batchSize; number++) batch.push(await certified(number));
  judged.push(...batch);
  expect(batch.filter(({ judgment }) => wrong.includes(judgment))).toEqual([]);
});

test("at most one of 200 correct clients is accused: tests in random order may look alike three times", () => {
  const correct = judged.filter(isCorrect);
  expect(having("accused").length).toBeLessThanOrEqual(Math.ceil(correct.length / 200));
});

test("at least 90% of the flaws of steady suites are named or stated", () => {
  const steady = judged.filter((one) => !isCorrect(one) && one.isSteady);
  const shown = steady.filter(({ judgment }) => judgment === "named" || judgment === "stated");
  expect(shown.length / steady.length).toBeGreaterThanOrEqual(0.9);
});

// A client whose resends cannot be judged does not pass: its suite sends no key that works twice, or not equally often.
test.each<[Group, number]>([
  ["plain", 0.02],
  ["with habits", 0.06],
  ["with shapes", 0.04],
])("of the correct clients that are %s, few with a steady suite are not judged", (name, most) => {
  const group = judged.filter(({ group }) => group === name);
  const open = group.filter((one) => one.isSteady && one.judgment === "not judged");
  expect(open.length).toBeLessThanOrEqual(Math.ceil(group.length * most));
});

test.each(Array.from({ length: count / 10 }, (_, number) => number))(
  "a client that sends a rejected key again never holds, whatever its shape: client %i",
  async (number) => {
    const draw = randomStream(seed, "resends", String(number));
    const flaw = ofResending[number % ofResending.length] as Flaw;
    const suite = withShapes(withFlaw(drawSuite(draw), flaw), draw);
    const certificate = await certifySuite(suite, {
      label: `resends ${seed} ${number}`,
      only: ["varied", "resend"],
    });
    expect(wrong).not.toContain(judge(certificate, flaw));
  },
);

test.each(Array.from({ length: count / 10 }, (_, number) => number))(
  "each sentence on two flaws at once is true: client %i",
  async (number) => {
    const draw = randomStream(seed, "two flaws", String(number));
    const reading = ofReading[number % ofReading.length] as Flaw;
    const other = flaws[draw() % flaws.length] as Flaw;
    const suite = withFlaws(drawSuite(draw), reading, other);
    const certificate = await certifySuite(suite, { label: `two ${seed} ${number}`, hasAllFaults: true });
    expect(falseIn(certificate, reading, other)).toEqual([]);
    for (const problem of certificate.problems) expect(await breaksAlone(suite, problem)).toBe(true);
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

/** The share of correct suites in which a kind of resend may stay open: a test polls, or uses no last response of a key. */
const mostOpen = (kind: string) => (/^resend\.(?:429|503)/.test(kind) ? 0.06 : 0.2);

test("of the correct clients with steady suites, few have a kind of resend that is not judged", () => {
  const steady = judged.filter((one) => isCorrect(one) && one.isSteady);
  const kinds = new Set(steady.flatMap(({ openResends }) => openResends));
  for (const kind of kinds) {
    const open = steady.filter(({ openResends }) => openResends.includes(kind));
    expect(open.length, kind).toBeLessThanOrEqual(Math.ceil(steady.length * mostOpen(kind)));
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
