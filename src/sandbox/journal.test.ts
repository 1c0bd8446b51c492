import { expect, test } from "vitest";
import { createJournal, type JournalEntry } from "./journal.js";

const entry = (id: number, key = "a"): JournalEntry => ({
  id: String(id),
  at: id,
  method: "GET",
  path: "/",
  key,
  fingerprint: null,
  status: 200,
  code: null,
  pathId: "200.test",
  durationMs: 0,
});

const ids = (entries: readonly JournalEntry[]) => entries.map(({ id }) => Number(id));

test("the journal keeps the last entries, oldest first, and counts all", () => {
  const journal = createJournal(3);
  for (let i = 1; i <= 5; i++) journal.record(entry(i));
  expect(ids(journal.list())).toEqual([3, 4, 5]);
  expect(journal.total()).toBe(5);
});

test("a list can be narrowed to a key, a path and the latest", () => {
  const journal = createJournal(10);
  for (let i = 1; i <= 6; i++) journal.record(entry(i, i % 2 === 0 ? "even" : "odd"));
  expect(ids(journal.list({ key: "even", limit: 2 }))).toEqual([4, 6]);
  expect(ids(journal.list({ limit: 0 }))).toEqual([]);
  expect(ids(journal.list({ pathId: "401.missing" }))).toEqual([]);
});

test("what is listed is a copy", () => {
  const journal = createJournal(3);
  journal.record(entry(1));
  (journal.list()[0] as { path: string }).path = "changed";
  expect(journal.list()[0]?.path).toBe("/");
});

test("clear forgets everything, and the ring begins anew", () => {
  const journal = createJournal(2);
  for (let i = 1; i <= 3; i++) journal.record(entry(i));
  journal.clear();
  journal.record(entry(9));
  expect([ids(journal.list()), journal.total()]).toEqual([[9], 1]);
});
