import { expect, test } from "vitest";
import {
  type AnnouncedChange,
  assumedAt,
  type ChangeFields,
  dateText,
  nextAssumed,
  withoutAssumed,
} from "./timeline.js";

const change = (at: number, fields: object) =>
  ({ ref: `c${at}`, at, ends: Number.POSITIVE_INFINITY, fields }) as AnnouncedChange;
const changes = [
  change(10, { assumptions: { error_details: true } }),
  change(20, { codes: {} }),
  change(30, { assumptions: { error_details: false, retry_after: "date" } }),
];

test("assumptions of changes apply from their instants on, later ones over earlier ones", () => {
  expect([9, 10, 29, 30].map((now) => assumedAt(changes, now))).toEqual([
    ...[{}, { error_details: true }, { error_details: true }, { error_details: false, retry_after: "date" }],
  ]);
});

test("the next change of assumptions is after now, and is not one of something else", () => {
  expect([9, 10, 29, 30].map((now) => nextAssumed(changes, now))).toEqual([
    10,
    30,
    30,
    Number.POSITIVE_INFINITY,
  ]);
  expect(nextAssumed(undefined, 0)).toBe(Number.POSITIVE_INFINITY);
});

test("what changes have assumed by an instant is left out, with changes of which nothing remains", () => {
  const at = "2027-06-01";
  const now = Date.parse(at);
  const fields = {
    only: { at, say: "Only.", assumptions: {} },
    more: { at, assumptions: {}, codes: {} },
    other: { at, codes: {} },
  } as unknown as ChangeFields;
  expect(withoutAssumed(fields, now - 1)).toEqual(fields);
  expect(withoutAssumed(fields, now)).toEqual({ more: { at, codes: {} }, other: { at, codes: {} } });
  expect([dateText(now), dateText(now + 1000)]).toEqual([at, "2027-06-01T00:00:01Z"]);
});
