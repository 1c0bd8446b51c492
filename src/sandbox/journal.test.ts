import { expect, test } from "vitest";
import type { KeyRecord } from "../domain/api-key.js";
import { createJournal, createRequestIds, type JournalEntry, type RequestNote } from "./journal.js";

const note = (number: number, ref = "a"): RequestNote => ({
  number,
  at: number,
  method: "GET",
  path: "/",
  key: { ref, sha256: "0123456789abcdef" } as KeyRecord,
  unknownKey: null,
  status: 200,
  presented: "well_formed",
  code: null,
  pathId: "200.test",
  fault: null,
  advice: [],
  durationMs: 0,
});

const ids = (entries: readonly JournalEntry[]) => entries.map(({ id }) => Number(id));

test("the journal keeps the last entries, oldest first, and counts all", () => {
  const journal = createJournal(String, 3);
  for (let i = 1; i <= 5; i++) journal.record(note(i));
  expect(ids(journal.list())).toEqual([3, 4, 5]);
  expect(journal.total()).toBe(5);
});

test("clear forgets everything, and the ring begins anew", () => {
  const journal = createJournal(String, 2);
  for (let i = 1; i <= 3; i++) journal.record(note(i));
  journal.clear();
  journal.record(note(9));
  expect([ids(journal.list()), journal.total()]).toEqual([[9], 1]);
});

test("an entry has its id, and a ref and fingerprint in place of the key", () => {
  const journal = createJournal((number) => `id-${number}`);
  journal.record(note(7));
  journal.record({ ...note(8), key: undefined, unknownKey: "fedcba987654" });
  expect(journal.list()).toMatchObject([
    { id: "id-7", key: "a", fingerprint: "0123456789ab" },
    { id: "id-8", key: null, fingerprint: "fedcba987654" },
  ]);
  expect(JSON.stringify(journal.list())).not.toContain("0123456789abcdef");
});

test("R7 the ids of a seed are the same again, differ from each other, and differ between seeds", () => {
  const take = (seed: number) => {
    const { next, idOf } = createRequestIds(seed);
    return Array.from({ length: 10_000 }, () => idOf(next()));
  };
  expect(take(1)).toEqual(take(1));
  expect(new Set([...take(1), ...take(2)]).size).toBe(20_000);
  expect(take(1)[0]).toMatch(/^req_[0-9a-f]{24}$/);
});

test("R7 each series has ids of its own, and goes on from the number of its last request", () => {
  const take = (ids: ReturnType<typeof createRequestIds>) =>
    Array.from({ length: 1000 }, () => ids.idOf(ids.next()));
  const ids = createRequestIds(1);
  const first = take(ids);
  ids.enter(7);
  const later = take(ids);
  expect(new Set([...first, ...later]).size).toBe(2000);
  expect(take(createRequestIds(1, ids.answered()))).toEqual(take(ids));
  // An id of an earlier series is still known.
  expect(ids.idOf(1)).toBe(first[0]);
});
