import { expect, test } from "vitest";
import { handMade, type NamedRun, sentKey, sentTimes } from "../../test/certify/hand-made.js";
import type { PlannedRun, RunEnd, SentKey } from "./client-runs/client-run.js";
import { judgeFaults } from "./faults.js";

const point = { row: "etag", variant: "weak", status: 200 };
const plainKeys = [sentTimes("active", 2)];

/** How a suite ends with a fault, if a test uses the response that the fault replaces. */
const withFault =
  (end: Partial<RunEnd>, keys: readonly SentKey[] = plainKeys) =>
  ({ conditions: { onRequest } }: PlannedRun): Partial<RunEnd> => {
    if (onRequest?.gets.kind === "rejection") {
      return { result: "failed", replacedCount: 1, sentKeys: keys };
    }
    return onRequest === undefined ? { sentKeys: keys, points: [point] } : end;
  };

async function faultsOf(only: string | undefined, ...[endOf, plan]: Parameters<typeof handMade>) {
  const { runs, names } = await handMade(endOf, { ...(only && { only: [only] }), ...plan });
  const { checks, problems } = await judgeFaults(runs);
  const results = checks.map(({ result }) => (result.kind === "not_judged" ? result.why : result.kind));
  return { results, problems, names };
}

const survived: Partial<RunEnd> = { replacedCount: 1, sentKeys: [sentTimes("active", 3, 2)] };
const unfollowed: Partial<RunEnd> = { replacedCount: 1, sentKeys: [sentTimes("active", 2, 2)] };
const failed: Partial<RunEnd> = { ...survived, result: "failed" };

const notSentAgain = "the command passed, and no run shows that the request came again that was hit";

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

test("a key that other runs send more often or less gets no fault, and the next one does", async () => {
  const hit: string[] = [];
  const { results } = await faultsOf("fault.reset", ({ conditions: { onRequest, profile } }, before) => {
    if (onRequest?.which.kind === "nth" && onRequest.gets.kind === "fault") hit.push(onRequest.which.key);
    const often = onRequest === undefined && profile === "minimal" && before > 0 ? 3 : 2;
    const keys = [sentTimes("active", often), sentTimes("live", 2)];
    if (onRequest === undefined) return { sentKeys: keys, points: [point] };
    if (onRequest.gets.kind === "rejection") {
      return { result: "failed", replacedCount: 1, sentKeys: keys };
    }
    return { replacedCount: 1, sentKeys: [sentTimes("active", 2), sentTimes("live", 3, 2)] };
  });
  expect([results, hit]).toEqual([["held"], ["live"]]);
});

test("a fault shows nothing if the command passes when the response is the wrong one", async () => {
  const { results } = await faultsOf("fault.reset", ({ conditions: { onRequest } }) =>
    onRequest?.gets.kind !== "fault" ? { replacedCount: 1, sentKeys: plainKeys, points: [point] } : survived,
  );
  expect(results).toEqual(["no test fails when the last request with a key that works gets a 401"]);
});

test("without a request that may be sent again and whose response has a body, no fault is tried", async () => {
  const { results, names } = await faultsOf(
    "fault.reset",
    withFault(survived, [sentKey("active", { canTakeFault: false })]),
  );
  expect(results).toEqual(["no key that always works came equally often in each run, with a GET"]);
  expect(names).not.toContain("fault.reset");
});

test("failures of one kind are one problem, and a client without a timeout another one", async () => {
  const { problems } = await faultsOf(undefined, (request) => {
    const { name } = request;
    const end =
      name === "fault.hang"
        ? { ...unfollowed, result: "timed_out" as const }
        : name === "fault.malformed"
          ? survived
          : failed;
    return withFault(end)(request);
  });
  expect(problems.map(({ runs }) => runs)).toEqual([["fault.status", "fault.truncate"], ["fault.hang"]]);
  expect(problems[1]?.sentence).toBe(
    "Does not end in time when the last request with a key that works never gets a response (3 of 3 runs)",
  );
});

test("a test that counts requests is told so only if each failing run sent one more than a run without a fault", async () => {
  const sentenceWith = async (count: number) => {
    const { problems } = await faultsOf("fault.reset", ({ conditions, ...request }) =>
      conditions.onRequest?.gets.kind !== "rejection"
        ? withFault({ ...failed, sentKeys: [sentTimes("active", count, 2)] })({ conditions, ...request })
        : { result: "failed", replacedCount: 1, sentKeys: plainKeys },
    );
    return problems[0]?.sentence;
  };
  const fails = "Fails when the last request with a key that works has its connection reset";
  expect(await sentenceWith(3)).toBe(`${fails}, although the request came again (3 of 3 runs)`);
  expect(await sentenceWith(2)).toBe(`${fails} (3 of 3 runs)`);
});

test("--allow names a fault that the client fails at, and a client that survives it holds", async () => {
  const plan = { allow: ["fault.reset"] };
  expect(await faultsOf("fault.reset", withFault(failed), plan)).toMatchObject({
    results: ["allowed"],
    problems: [],
  });
  expect((await faultsOf("fault.reset", withFault(survived), plan)).results).toEqual(["held"]);
});

test("a fault at which the command fails in some of three runs is not judged, with the counts", async () => {
  const { results, problems } = await faultsOf("fault.reset", (request, before) =>
    withFault(request.name === "fault.reset" && before > 1 ? survived : failed)(request),
  );
  expect([results, problems]).toEqual([["the command failed with fault.reset in 2 of 3 runs"], []]);
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
