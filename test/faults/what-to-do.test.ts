import { expect, test } from "vitest";
import { requestDetails } from "../../src/api/request-details.js";
import type { Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/create-sandbox.js";
import { faultEffects, faultKinds, whatToDoAfter } from "../../src/rules/fault-effects.js";
import { content, documentOf, serving, success } from "../support/documents.js";

type Effect = NonNullable<Scenario["faults"]>[number]["then"];

const loan = { type: "object", properties: { amount: { type: "integer" } } };
const responses = { ...success(loan), 404: { description: "" } };
const requestBody = content(loan);
const loans = documentOf({
  "/loans": { post: { operationId: "createLoan", requestBody, responses } },
  "/loans/{id}": {
    get: { operationId: "readLoan", responses },
    patch: { operationId: "changeLoan", requestBody, responses },
    delete: { operationId: "deleteLoan", responses },
  },
});

/** Sends a request under a fault, and returns what `explain` shows about it. */
async function explained(request: string, then: Effect | undefined, headers: Record<string, string> = {}) {
  const { sandbox, ask } = serving(loans);
  if (then !== undefined) sandbox.faults.set([{ then }]);
  const body = /^P/.test(request) ? { amount: 2 } : undefined;
  await ask(request, { body, headers }).catch(() => {});
  const last = sandbox.requests.list().at(-1);
  return requestDetails(stateOf(sandbox), last?.id ?? "");
}

const readFirst = /read its result before you send it again/;

test.each(faultKinds.filter((kind) => !faultEffects[kind].onlyDelays && kind !== "hang"))(
  "after a fault that is %s, a POST or PATCH is not simply repeated; others are",
  async (kind) => {
    const then = faultEffects[kind].example as Effect;
    for (const request of ["POST /loans", "PATCH /loans/1"]) {
      const { whatToDo } = await explained(request, then);
      expect(whatToDo).toMatch(readFirst);
      expect(whatToDo).not.toMatch(/only reads|and send the request again/);
    }
    for (const request of ["DELETE /loans/1", "GET /loans/1"]) {
      expect((await explained(request, then)).whatToDo).toMatch(/end the request again/);
    }
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
  [{ status: 409 }, /^Do not send the request again unchanged: read the state first/],
  [{ status: 422 }, /^Do not send the request again unchanged: correct/],
  [
    { status: 429, retry_after: "30s" },
    /^Wait as its Retry-After says \(30\)\. Then send the request again\./,
  ],
  [{ status: 429 }, /^Wait for the next minute\./],
  [{ status: 503, retry_after: "30s" }, /^Wait as its Retry-After says \(30\)\. Send the request again/],
])("advice about a status that a fault sends is about that status: %j", async (then, words) => {
  expect((await explained("GET /loans/1", then)).whatToDo).toMatch(words);
});

test("advice about a status that Prefer asked for is about that status", async () => {
  const { whatToDo } = await explained("GET /loans/1", undefined, { Prefer: "code=404" });
  expect(whatToDo).toMatch(/^Do not send the request again unchanged/);
});
