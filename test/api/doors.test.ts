import { expect, test } from "vitest";
import { doors } from "../support/doors.js";
import { expressDoor } from "../support/express-door.js";

// Files share their process: what one test left open would meet the requests of others.

const { fetch } = globalThis;
const ports: number[] = [];

test.fails("a test with every entry point, which fails", async () => {
  for (const door of [...doors, expressDoor]) ports.push((await door.open("active")).port ?? 0);
  throw new Error("on purpose");
});

test("leaves nothing open", async () => {
  expect(globalThis.fetch).toBe(fetch);
  const [port] = ports.filter(Boolean);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});
