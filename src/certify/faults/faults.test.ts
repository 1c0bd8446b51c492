import { expect, test } from "vitest";
import { handMade, type NamedRun, reasonOf, sentKey, sentTimes } from "../../../test/certify/hand-made.js";
import type { PlannedRun, RunEnd, SentKey } from "../client-runs/client-run.js";
import { judgeFaults } from "./faults.js";

const point = { row: "etag", variant: "weak", status: 200 };
const plainKeys = [sentTimes("active", 2)];

/** How a suite ends with a fault, if a test uses the response that the fault replaces. */
const withFault =
  (end: Partial<RunEnd>, keys: readonly SentKey[] = plainKeys) =>
  ({ conditions: { onRequest } }: PlannedRun): Partial<RunEnd> => {
    if (onRequest?.gets.kind === "wrong_answer") {
      return { result: "failed", replacedCount: 1, sentKeys: keys };
    }
    return onRequest === undefined ? { sentKeys: keys, points: [point] } : end;
  };

async function faultsOf(only: string | undefined, ...[endOf, plan]: Parameters<typeof handMade>) {
  const { runs, names } = await handMade(endOf, { ...(only && { only: [only] }), ...plan });
  const { checks, problems } = await judgeFaults(runs);
  const results = checks.map(({ result }) =>
    result.kind === "not_judged" ? result.reason.why : result.kind,
  );
  return { results, problems, names };
}

const survived: Partial<RunEnd> = { replacedCount: 1, sentKeys: [sentTimes("active", 3, 1)] };
const unfollowed: Partial<RunEnd> = { replacedCount: 1, sentKeys: [sentTimes("active", 2, 2)] };
const failed: Partial<RunEnd> = { ...survived, result: "failed" };

const notSentAgain = "the command passed, and no run shows that it sent the request again that was hit";

test("a fault holds if one more request came after the one that was hit; a delay also without", async () => {
  expect((await faultsOf("fault.reset", withFault(survived))).results).toEqual(["held"]);
  expect((await faultsOf("fault.reset", withFault(unfollowed))).results).toEqual([notSentAgain]);
  expect((await faultsOf("fault.slow", withFault(unfollowed))).results).toEqual(["held"]);
  expect((await faultsOf("fault.reset", withFault({ sentKeys: plainKeys }))).results).toEqual([
    "no request was hit",
  ]);
});

test("a fault does not hold if no request with the key that was hit follows, whatever other keys send", async () => {
  const sent = [sentTimes("active", 2, 2), sentTimes("live", 2)];
  expect((await faultsOf("fault.reset", withFault({ ...unfollowed, sentKeys: sent }))).results).toEqual([
    notSentAgain,
  ]);
});

test("the request of the next test is none that was sent again", async () => {
  const nextTest = { replacedCount: 1, sentKeys: [sentTimes("active", 2, 1)] };
  expect((await faultsOf("fault.malformed", withFault(nextTest))).results).toEqual([notSentAgain]);
});

test("a failure right after a fault or a limit of the tests is not judged; one before that is", async () => {
  const after = (...before: readonly ("fault.status" | "429.per_minute" | "200.test")[]) =>
    sentKey("active", ...before.map((outcome) => ({ outcome })), { isReplaced: true });
  const resultsWith = async (sent: SentKey) =>
    (await faultsOf("fault.reset", withFault({ result: "failed", replacedCount: 1, sentKeys: [sent] })))
      .results;
  const second = "the command fails, and the request that was hit follows a failure of your own tests";
  expect(await resultsWith(after("fault.status"))).toEqual([second]);
  expect(await resultsWith(after("429.per_minute"))).toEqual([second]);
  expect(await resultsWith(after("fault.status", "200.test"))).toEqual(["failed"]);
});

test("a fault shows nothing if the command passes when the response is the wrong one", async () => {
  const { results } = await faultsOf("fault.reset", ({ conditions: { onRequest } }) =>
    onRequest?.gets.kind !== "fault" ? { replacedCount: 1, sentKeys: plainKeys, points: [point] } : survived,
  );
  expect(results).toEqual(["the command passes when the first request with a key that works gets a 401"]);
});

test("a fault whose wrong response makes the command fail only in some runs, or not end, says so", async () => {
  const why = async (endOf: (before: number) => RunEnd["result"]) => {
    const only = ["fault.reset", "varied.1"];
    const { runs } = await handMade(
      ({ conditions: { onRequest } }, before) => {
        if (onRequest?.gets.kind === "fault") return survived;
        const isWrong = onRequest?.gets.kind === "wrong_answer";
        return {
          sentKeys: plainKeys,
          points: [point],
          ...(isWrong && { result: endOf(before), replacedCount: 1 }),
        };
      },
      { only },
    );
    const { checks } = await judgeFaults(runs);
    return reasonOf(checks[0]?.result)?.why;
  };
  expect(await why((before) => (before === 0 ? "failed" : "passed"))).toBe(
    "the command fails, but only in some runs",
  );
  expect(await why(() => "timed_out")).toBe("the command did not end in time");
});

test("a fault that shows nothing says so if the key was sent again after the wrong response", async () => {
  const { results } = await faultsOf("fault.reset", ({ conditions: { onRequest } }) => {
    if (onRequest?.gets.kind === "fault") return survived;
    if (onRequest === undefined) return { sentKeys: plainKeys, points: [point] };
    return { replacedCount: 1, sentKeys: [sentTimes("active", 3, 1)] };
  });
  expect(results).toEqual([
    "the command passes when the first request with a key that works gets a 401, and sends it again",
  ]);
});

test("without a request that may be sent again and whose response has a body, no fault is tried", async () => {
  const { results, names } = await faultsOf(
    "fault.reset",
    withFault(survived, [sentKey("active", { canTakeFault: false })]),
  );
  expect(results).toEqual([expect.stringMatching(/^the plain run sent no request/)]);
  expect(names).not.toContain("fault.reset");
});

test("a fault hits an outcome that comes equally often in each run before one that does not", async () => {
  const targets: unknown[] = [];
  const live = (count: number) =>
    sentKey("live", ...Array.from({ length: count }, () => ({ outcome: "200.live" }) as const));
  const keys = (count: number) => [sentKey("active", ...Array.from({ length: count }, () => ({}))), live(2)];
  await faultsOf(undefined, ({ name, conditions: { onRequest } }) => {
    const { which, gets } = onRequest ?? {};
    if (gets?.kind === "fault" && which?.kind === "first") targets.push(which.outcome);
    if (gets?.kind === "wrong_answer") return { result: "failed", replacedCount: 1, sentKeys: keys(2) };
    return gets === undefined ? { sentKeys: keys(name === "varied.4" ? 3 : 2), points: [point] } : survived;
  });
  expect([...new Set(targets)]).toEqual(["200.live"]);
});

test("failures of one kind are one problem, and a client without a timeout another one", async () => {
  const { problems } = await faultsOf(undefined, (request) => {
    const { name } = request;
    const end =
      name === "fault.hang"
        ? { ...failed, result: "timed_out" as const }
        : name === "fault.malformed"
          ? survived
          : failed;
    return withFault(end)(request);
  });
  expect(problems.map(({ runs }) => runs)).toEqual([["fault.status", "fault.truncate"], ["fault.hang"]]);
  expect(problems[1]?.whatToDo).toContain("raise --timeout");
});

test("a test that counts requests is told so only if each failing run sent one more than any run without a fault", async () => {
  const sentenceWith = async (count: number, usual = 2) => {
    const keys = [sentTimes("active", usual)];
    const { problems } = await faultsOf("fault.reset", ({ conditions, ...request }) =>
      conditions.onRequest?.gets.kind !== "wrong_answer"
        ? withFault({ ...failed, sentKeys: [sentTimes("active", count, 1)] })({ conditions, ...request })
        : { result: "failed", replacedCount: 1, sentKeys: keys },
    );
    return problems[0]?.sentence;
  };
  expect(await sentenceWith(3)).toMatch(/^Sends the request again after /);
  expect(await sentenceWith(2)).toMatch(/^Fails when the first request/);
  expect(await sentenceWith(3, 3)).toMatch(/^Fails when the first request/);
});

test("--allow names a fault that the client fails at, and a client that survives it holds", async () => {
  const plan = { allow: ["fault.reset"] };
  expect(await faultsOf("fault.reset", withFault(failed), plan)).toMatchObject({
    results: ["allowed"],
    problems: [],
  });
  expect((await faultsOf("fault.reset", withFault(survived), plan)).results).toEqual(["held"]);
});

test("a run that was not made shows nothing, also if it is the one that repeats a failure", async () => {
  const endOf = (missing: number) => (request: NamedRun, before: number) =>
    request.name === "fault.reset" && before === missing ? undefined : withFault(failed)(request);
  const whyWithout = async (missing: number) => {
    const { results, problems } = await faultsOf("fault.reset", endOf(missing));
    expect(problems).toEqual([]);
    return results;
  };
  expect(await whyWithout(0)).toEqual(["certify was stopped"]);
  expect(await whyWithout(1)).toEqual(["certify was stopped"]);
});
