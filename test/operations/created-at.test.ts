import { expect, test } from "vitest";
import { continued } from "../support/continued.js";
import { at, minute, open, testKey } from "./sandbox.js";

test("a key has the time when it was created or when it replaced another, and null if the scenario starts with it", () => {
  const sandbox = open();
  const { keys, clock } = sandbox;
  clock.advance("1m");
  expect(keys.create({ ...testKey, ref: "created" }).key.createdAt).toBe(at(minute));
  clock.advance("1m");
  expect(keys.rotate("main", { as: "next" }).key.createdAt).toBe(at(2 * minute));
  expect(keys.get("main").createdAt).toBe(null);
});

test("a step of a timeline creates its key when the step is due, however late the sandbox is read", () => {
  const create = { ...testKey, ref: "planned" };
  const sandbox = open({ timeline: [{ at: "1m", create_key: create }] });
  sandbox.clock.advance("1h");
  expect(sandbox.keys.get("planned").createdAt).toBe(at(minute));
});

test("a snapshot keeps when a key was created, also at the epoch, and a reset leaves only keys without that time", () => {
  const sandbox = open({ clock: { now: "1970-01-01T00:00:00Z", frozen: true } });
  sandbox.keys.create({ ...testKey, ref: "created" });
  sandbox.clock.advance("1h");
  const again = continued(sandbox);
  expect(again.keys.get("created").createdAt).toBe("1970-01-01T00:00:00.000Z");
  expect(again.keys.list()).toEqual(sandbox.keys.list());
  sandbox.reset();
  expect(sandbox.keys.list().filter((key) => key.createdAt !== null)).toEqual([]);
});
