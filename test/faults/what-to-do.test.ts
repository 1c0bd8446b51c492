import { expect, test } from "vitest";
import { requestDetails } from "../../src/api/request-details.js";
import type { Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/create-sandbox.js";
import { faultEffects, faultKinds, whatToDoAfter } from "../../src/rules/fault-effects.js";
import { loanRecords, loans, sandboxOf } from "../records/sandbox.js";

type Effect = NonNullable<Scenario["faults"]>[number]["then"];

/** Sends a request with a record's id in place of `ID`, under a fault, and returns what `explain` shows about it. */
async function explained(request: string, then: Effect | undefined, headers: Record<string, string> = {}) {
  const { sandbox, ask } = sandboxOf({ openapi: loans, records: loanRecords });
  const { id } = (await ask("POST /loans", { body: { amount: 1 } })).body.data;
  if (then !== undefined) sandbox.faults.set([{ then }]);
  const body = /^P/.test(request) ? { amount: 2 } : undefined;
  await ask(request.replace("ID", id), { body, headers }).catch(() => {});
  const last = sandbox.requests.list().at(-1);
  return requestDetails(stateOf(sandbox), last?.id ?? "");
}

const readFirst = /read its result before you send it again/;

test.each(faultKinds.filter((kind) => !faultEffects[kind].onlyDelays && kind !== "hang"))(
  "after a fault that is %s, a POST or PATCH is not simply repeated; others are, and one with an Idempotency-Key",
  async (kind) => {
    const then = faultEffects[kind].example as Effect;
    for (const request of ["POST /loans", "PATCH /loans/ID"]) {
      const { whatToDo } = await explained(request, then);
      expect(whatToDo).toMatch(readFirst);
      expect(whatToDo).not.toMatch(/only reads|and send the request again/);
    }
    for (const request of ["DELETE /loans/ID", "GET /loans/ID"]) {
      expect((await explained(request, then)).whatToDo).toMatch(/end the request again/);
    }
    expect((await explained("POST /loans", then, { "Idempotency-Key": "one" })).whatToDo).not.toMatch(
      readFirst,
    );
    expect((await explained("POST /loans", then)).whatToDo).toMatch(/documents an Idempotency-Key/);
    // This endpoint does not honor it.
    const { whatToDo } = await explained("PATCH /loans/ID", then, { "Idempotency-Key": "one" });
    expect(whatToDo).toMatch(readFirst);
    expect(whatToDo).not.toContain("Idempotency-Key");
  },
);

test("after a hanging request, a client reads first, unless it can repeat the request", () => {
  const [twice, once] = [true, false].map((isRepeatable) =>
    whatToDoAfter("fault.hang", { isRepeatable, status: 0 }),
  );
  expect([twice, once]).toEqual([
    expect.stringMatching(/send the request again\.$/),
    expect.stringMatching(readFirst),
  ]);
});

test.each<[then: Effect, words: RegExp]>([
  [{ status: 409 }, /^Do not send the request again unchanged: read the record first/],
  [{ status: 422 }, /^Do not send the request again unchanged: correct/],
  [
    { status: 429, retry_after: "30s" },
    /^Wait as its Retry-After says \(30\)\. Then send the request again\./,
  ],
  [{ status: 429 }, /^Wait for the next minute\./],
  [{ status: 503, retry_after: "30s" }, /^Wait as its Retry-After says \(30\)\. Send the request again/],
])("advice about a status that a fault sends is about that status: %j", async (then, words) => {
  expect((await explained("GET /loans/ID", then)).whatToDo).toMatch(words);
});

test("advice about a status that Prefer asked for is about that status", async () => {
  const { whatToDo } = await explained("GET /loans/ID", undefined, { Prefer: "code=404" });
  expect(whatToDo).toMatch(/^Do not send the request again unchanged/);
});

test("explain shows the state of a record that allows no change, and why a record is unknown", async () => {
  const { sandbox, ask } = sandboxOf({ openapi: loans, records: loanRecords });
  const { id } = (await ask("POST /loans", { body: { amount: 1 } })).body.data;
  const why = async (request: string) => {
    await ask(request.replace("ID", id));
    return requestDetails(stateOf(sandbox), sandbox.requests.list().at(-1)?.id ?? "").why;
  };
  await why("POST /loans/ID/approve");
  expect(await why("POST /loans/ID/approve")).toBe(
    `loans ${id} has {"status":"approved"}, and approveLoan needs {"status":["pending"]}`,
  );
  expect(await why("GET /loans/loan_0000000000")).toMatch(/was never created$/);
});
