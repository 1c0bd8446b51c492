import { expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { loans } from "./sandbox.js";

const start = "    create: createLoan\n    read: readLoan\n";

/** The lines of a collection, with ▲ where its problem is, and the hint. */
const broken: readonly (readonly [lines: string, message: RegExp, hint: RegExp])[] = [
  ["    create: ▲createLaon\n", /no operation "createLaon"/, /Did you mean "createLoan"\?/],
  ["    create: ▲getRelyingPartyContext\n", /no operation/, /an operation id of the document/],
  [`${start}    update: ▲readLoan\n`, /already has records/, /./],
  [`${start}    moves: { approve: ▲{} }\n`, /no operation "approve"/, /an operation id/],
  ["    create: createLoan\n    id: ▲loan.id\n", /createLoan has no loan\.id/, /write id:/],
  ["    ▲set: { status: pending }\n", /no operation/, /add create/],
  [`${start}    set: ▲{ status: open }\n`, /createLoan would not be valid: data\.status/, /schema allows/],
  [`${start}    set: ▲{ state: pending }\n`, /no response of loans has the member "state"/, /./],
  [`${start}    moves: { approveLoan: { set: ▲{ status: 7 } } }\n`, /status/, /./],
  [`${start}    moves: { approveLoan: { when: ▲{ stat: pending } } }\n`, /"stat"/, /./],
  [`${start}    then: [{ after: 1h, set: ▲{ amount: 0 } }]\n`, /amount/, /./],
  [`${start}    start:\n      - ▲{ amount: many }\n`, /amount/, /./],
  [`${start}    start:\n      - { organization: ▲bonk }\n`, /no organization "bonk"/, /mean bank\?/],
  [`${start}    start:\n      - ▲{ farmer_id: "{farmer.99999}" }\n`, /no such farmer/, /\{farmer\.0\}/],
];

test.each(broken)("%j is a problem at its place, with a hint", async (marked, message, hint) => {
  const head = "version: 1\norganizations: { bank: { type: bank } }\nopenapi: api.json\nrecords:\n  loans:\n";
  const [before = "", after = ""] = (head + marked).split("▲");
  const lines = before.split("\n");
  const place = `mine.yaml:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
  const cwd = temporaryFolder({ "mine.yaml": before + after, "api.json": JSON.stringify(loans) });
  const { code, stdout, stderr } = await runCli(["validate", "mine.yaml"], { cwd });
  const text = stdout + stderr;
  expect([code, text]).toEqual([1, expect.stringContaining(place)]);
  expect(text).toMatch(message);
  expect(/hint: .*/.exec(text)?.[0]).toMatch(hint);
});
