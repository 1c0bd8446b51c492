import { expect, test } from "vitest";
import { requestDetails } from "../../src/api/request-details.js";
import { createSandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import {
  faultExamples,
  faultKinds,
  faultKindTable,
  isIdempotent,
  whatToDoAfter,
} from "../../src/rules/fault-effects.js";

type Effect = NonNullable<Scenario["faults"]>[number]["then"];

const path = "/v1/relying-party/loans/{id}";
const loans: Scenario = {
  version: 1,
  endpoints: {
    createLoan: { method: "POST", path, body: { id: "1" } },
    readLoan: { path, body: { id: "1" } },
    changeLoan: { method: "PATCH", path, body: { id: "1" } },
    replaceLoan: { method: "PUT", path, body: { id: "1" } },
    deleteLoan: { method: "DELETE", path, body: { id: "1" } },
  },
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
};

/** Sends a request under a fault, and returns what `explain` shows about it. */
async function explained(method: string, then: Effect) {
  const sandbox = createSandbox({ scenario: loans });
  sandbox.faults.set([{ then }]);
  const headers = { "x-api-key": sandbox.secret("main") };
  await sandbox.fetch("https://any.example/v1/relying-party/loans/1", { method, headers }).catch(() => {});
  const last = sandbox.requests.list().at(-1);
  return requestDetails(stateOf(sandbox), last?.id ?? "");
}

const readFirst = /read its result before you send it again/;

test.each(faultKinds.filter((kind) => !faultKindTable[kind].onlyDelays && kind !== "hang"))(
  "after a fault that is %s, a POST or PATCH is not simply repeated; others are",
  async (kind) => {
    const then = faultExamples[kind] as Effect;
    for (const request of ["POST", "PATCH"]) {
      const { whatToDo } = await explained(request, then);
      expect(whatToDo).toMatch(readFirst);
      expect(whatToDo).not.toMatch(/only reads|and send the request again/);
    }
    for (const request of ["PUT", "DELETE", "GET"]) {
      expect((await explained(request, then)).whatToDo).toMatch(/end the request again/);
    }
  },
);

test("after a hanging request, a client reads first, unless it can repeat the request", () => {
  const [twice, once] = [true, false].map((isIdempotent) => whatToDoAfter("fault.hang", { isIdempotent }));
  expect([twice, once]).toEqual([
    expect.stringMatching(/send the request again\.$/),
    expect.stringMatching(readFirst),
  ]);
});

test("advice about a status with Retry-After starts with the wait", async () => {
  const { whatToDo } = await explained("GET", { status: 503, retry_after: "30s" });
  expect(whatToDo).toMatch(/^Wait as its Retry-After says \(30\)\. Send the request again/);
});

test("GET, HEAD, OPTIONS, TRACE, PUT and DELETE are idempotent, POST and PATCH are not", () => {
  const methods = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH"];
  expect(methods.filter(isIdempotent)).toEqual(methods.slice(0, 6));
});
