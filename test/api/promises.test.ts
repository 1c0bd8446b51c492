import { expect, test } from "vitest";
import { conditionedRun } from "../../src/api/conditioned-run.js";
import { me } from "../../src/api/endpoints/me.js";
import { brokenPromises, promisesOn } from "../../src/api/promises.js";
import { outcomes, type PathId } from "../../src/rules/outcomes.js";
import { shapeProblems } from "../../src/rules/schema/check.js";
import type { Observation } from "../../src/sandbox/conditions.js";
import { headerOf, startFrozen } from "../support/doors.js";
import { ask, type Completed, observe, rejectedKeys } from "../support/varied.js";

const now = Date.parse("2026-03-02T09:00:00Z");

/** Every key of `key-states` and every kind of rejected key, twice; then again on the next day. */
function responses(
  sandbox = startFrozen("key-states", { now }),
  isWanted = (_path: PathId) => true,
): Completed[] {
  sandbox.registry.key("legacy").usage.dayCount = 1_000;
  const keys = [...sandbox.registry.keys.keys(), ...rejectedKeys.slice(0, 5)];
  const days = [0, 24 * 60 * 60 * 1000].map((later) => {
    sandbox.clock.advance(later);
    return [...keys, ...keys].map((key) => ask(sandbox, key === undefined ? {} : { key }));
  });
  return days.flat().filter(({ pathId }) => isWanted(pathId));
}

const replacedIn = (seen: readonly Observation[]) => seen.filter(({ hit }) => hit !== undefined).length;

const usual = responses();
const promised = outcomes.filter((one) => one.promised).map(({ path }) => path);

test("a client that covers everything gets one swap for each promised path, and each shared promise once", () => {
  const all = promisesOn(promised, "all").map(({ id }) => id);
  const swaps = promisesOn(promised, "swaps");
  expect(swaps.map(({ path }) => path)).toEqual(promised);
  expect(all.filter((id) => id.startsWith("200.test:"))).toEqual(
    [
      "rejected environment-swapped organization-missing organization-null organization-wrong-type",
      "organization-type-unknown scopes-missing scopes-null scopes-wrong-type scopes-empty limits-missing",
      "limits-null limits-wrong-type usage-missing usage-null usage-wrong-type usage-not-counting invalid-json",
      "status-500",
    ].flatMap((names) => names.split(" ").map((name) => `200.test:${name}`)),
  );
  expect(all.filter((id) => !id.startsWith("200.test:") && !/:(accepted|rejected)$/.test(id))).toEqual([
    "200.live:environment-swapped",
    ...promised.filter((path) => path.startsWith("403")).map((path) => `${path}:another-code`),
    ...promised.filter((path) => path.startsWith("429")).map((path) => `${path}:never-ends`),
  ]);
  for (const { sentence, loss } of brokenPromises) {
    expect([sentence, loss]).toEqual([expect.stringMatching(/^[^{}]+$/), expect.stringMatching(/^[^{}]+$/)]);
    expect(sentence + loss).not.toContain("undefined");
  }
  expect(new Set(brokenPromises.map(({ id }) => id)).size).toBe(brokenPromises.length);
});

test("only covered paths are tried, and shared promises on the first 200 of them", () => {
  const covered = ["404.unknown_path", "200.legacy", "200.live", "401.revoked"] as const;
  const rows = promisesOn(covered, "all");
  expect([...new Set(rows.map(({ path }) => path))]).toEqual(["200.live", "200.legacy", "401.revoked"]);
  expect(rows.filter((a) => a.path === "200.legacy").map((a) => a.id)).toEqual(["200.legacy:rejected"]);
  expect(rows.some(({ id }) => id === "200.live:scopes-empty")).toBe(true);
  expect(promisesOn(covered, "none")).toEqual([]);
});

/** Whether a broken response is what the id of the promise says, and in all else the usual one. */
function expectBroken(name: string, broken: Completed, instead: Completed): void {
  const [member = ""] = name.split("-");
  expect(headerOf(broken, "content-length")).toBe(String(Buffer.byteLength(broken.body)));
  if (name === "invalid-json") {
    expect(broken.status).toBe(200);
    expect(() => JSON.parse(broken.body)).toThrow(SyntaxError);
    return;
  }
  const [body, before] = [JSON.parse(broken.body), JSON.parse(instead.body)];
  const problems = shapeProblems(me.responseShape, body).map(({ path }) => path[1]);
  if (name === "accepted") expect([broken.status, problems]).toEqual([200, []]);
  else if (name === "rejected") expect([broken.status, body.error.code]).toEqual([401, "unauthorized"]);
  else if (name === "never-ends") expect([broken.status, body.error.code]).toEqual([429, "rate_limited"]);
  else if (name === "status-500") expect([broken.status, body.error.code]).toEqual([500, "internal_error"]);
  else {
    const part = name === "another-code" ? "error" : "data";
    const changed = name === "another-code" ? "code" : member;
    expect(broken.status).toBe(instead.status);
    expect({ ...body[part], [changed]: 0 }).toEqual({ ...before[part], [changed]: 0 });
    expect(body[part][changed]).not.toEqual(before[part][changed]);
    // A swapped value, and a count that stands still, have the right form.
    const hasForm = /-(swapped|not-counting|code)$/.test(name);
    if (part === "data") expect(problems).toEqual(hasForm ? [] : [member]);
  }
}

test.each(brokenPromises.map((promise) => [promise.id, promise] as const))(
  "%s changes what its name states and nothing else",
  (_id, promise) => {
    const sandbox = startFrozen("key-states", { now, run: conditionedRun({ promise: promise.id }) });
    const seen = observe(sandbox);
    const [path, name = ""] = promise.id.split(":");
    let changed = 0;
    for (const [at, response] of responses(sandbox).entries()) {
      const instead = usual[at] as Completed;
      expect(response.pathId).toBe(instead.pathId);
      if (response.body === instead.body && response.status === instead.status) continue;
      changed += 1;
      expect(response.pathId).toMatch(name === "never-ends" ? /^200/ : String(path));
      expectBroken(name, response, instead);
    }
    expect([changed > 0, replacedIn(seen)]).toEqual([true, changed]);
  },
);

test("a response that a fault replaces, or outside of the specification, stays unchanged", () => {
  const sandbox = startFrozen("key-states", {
    now,
    run: conditionedRun({
      promise: "200.test:rejected",
      faults: [{ when: { requests: [1] }, then: { status: 503 } }],
    }),
  });
  const seen = observe(sandbox);
  expect(ask(sandbox, { key: "active" }).status).toBe(503);
  expect(ask(sandbox, { key: "active", path: "/v1/relying-party/nothing" }).status).toBe(404);
  expect(ask(sandbox, { key: "active", method: "POST" }).status).toBe(405);
  // The first one was hit by the fault.
  expect(seen.map(({ hit }) => hit)).toEqual(["200.test", undefined, undefined]);
  expect(ask(sandbox, { key: "active" }).status).toBe(401);
});
