import type { CertifyResult } from "../../src/certify/certificate/certificate.js";
import type { JudgedCheck } from "../../src/certify/checks/judgment.js";
import { clientReport } from "../../src/report/report.js";
import { startFrozen } from "../support/doors.js";

export function judgedCheck(check: JudgedCheck["check"], result: JudgedCheck["result"]): JudgedCheck {
  return { check, result };
}

/** A client that a row of varied responses breaks, with every member that a result can have. */
export const failed: CertifyResult = {
  verdict: "failed",
  scenario: "key-states",
  otherScenarios: ["bad-day"],
  scenarioDigest: "5f".repeat(32),
  specification: "0.1.0",
  sandbox: "0.1.0",
  command: ["npm", "run", "test:api", "--", "--grep", "it's a key"],
  seeds: [1, 2, 3, 4, 5, 6, 7, 8],
  allow: ["200.retiring"],
  startedAt: "2026-03-02T08:59:58.123Z",
  durationMs: 41_345,
  runs: 27,
  judged: 8,
  notJudged: 1,
  problems: [
    {
      name: "varied.3",
      sentence: "Breaks when a 401 has a charset in its `Content-Type`",
      whatToDo: "Compare only the media type.",
      row: "content_type",
      points: [{ row: "content_type", variant: "quoted", status: 401 }],
      runs: ["varied.3", "varied.8"],
      again: ["exec", "--profile", "varied", "--seed", "3"],
      lastLine: "Error: unexpected Content-Type",
    },
  ],
  checks: [
    judgedCheck({ kind: "varied", seed: 1 }, { kind: "held" }),
    judgedCheck({ kind: "varied", seed: 3 }, { kind: "failed" }),
    judgedCheck({ kind: "answer", outcome: "200.test" }, { kind: "held" }),
    judgedCheck({ kind: "answer", outcome: "200.retiring" }, { kind: "allowed" }),
    judgedCheck({ kind: "resend", outcome: "401.revoked" }, { kind: "held", key: "active" }),
    judgedCheck({ kind: "resend", outcome: "403.access_denied" }, { kind: "held", key: "active" }),
    judgedCheck(
      { kind: "resend", outcome: "429.per_minute", retryAfter: "without" },
      { kind: "not_judged", why: "no request was rejected", whatToDo: "Send the key." },
    ),
    judgedCheck({ kind: "fault", outcome: "fault.hang" }, { kind: "held" }),
    judgedCheck({ kind: "advice" }, { kind: "held" }),
  ],
  notes: [{ what: "varied 403", why: "no request got a 403", whatToDo: "Send a key that gets a 403." }],
  report: clientReport(startFrozen("key-states")),
};
