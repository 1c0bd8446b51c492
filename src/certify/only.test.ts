import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import { clientReport } from "../report/report.js";
import { findDoubtOfOnly } from "./only.js";

const report = clientReport(startFrozen("key-states"));

const whatToDoFor = (name: string) => findDoubtOfOnly({ only: [name] }, [], report)?.whatToDo;

test("a name of --only without a check says which keys end there", () => {
  expect(whatToDoFor("resend.403")).toMatch(
    /^Send a key that ends there, and check its response: SVC_KEY_\S+ \(403\.\w+\), SVC_KEY_/,
  );
  expect(whatToDoFor("answer.401.revoked")).toMatch(/: SVC_KEY_\S+ \(401\.revoked\)$/);
});

test("a name of --only without a check that needs no key of the scenario says so in one sentence", () => {
  expect(whatToDoFor("answer.401.missing")).toBe("Send a request that ends there, and check its response.");
});

test("a name of --only shows something if one of its checks is judged", () => {
  const reason = { why: "no request was hit", whatToDo: "Send it." };
  const open = {
    check: { kind: "fault", outcome: "fault.hang" },
    result: { kind: "not_judged", reason },
  } as const;
  const held = { check: { kind: "fault", outcome: "fault.slow" }, result: { kind: "held" } } as const;
  expect(findDoubtOfOnly({ only: ["fault"] }, [open, held], report)).toBeUndefined();
  expect(findDoubtOfOnly({ only: ["fault.slow", "fault.hang"] }, [open, held], report)?.why).toBe(
    "fault.hang: no request was hit",
  );
});
