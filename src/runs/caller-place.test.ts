import { expect, test } from "vitest";
import { callerOutside } from "./caller-place.js";

const placeIn = (folder: string, ownFrame: string, ...frames: readonly string[]) =>
  callerOutside({ cwd: () => folder }, ["Error", ownFrame, ...frames].join("\n"));

test.each([
  [
    "a module",
    "/home/user",
    "at callerOutside (file:///home/user/node_modules/svc-sandbox/dist/a.js:1:2)",
    "at file:///home/user/test/me.test.js:3:17",
  ],
  [
    "a module in a folder with a space",
    "/home/a b",
    "at callerOutside (file:///home/a%20b/node_modules/svc-sandbox/dist/a.js:1:2)",
    "at Object.test (file:///home/a%20b/test/me.test.js:3:17)",
  ],
  [
    "a module in a folder whose name has signs of a URL",
    "/home/a#b?c",
    "at callerOutside (file:///home/a%23b%3Fc/node_modules/svc-sandbox/dist/a.js:1:2)",
    "at Object.test (file:///home/a%23b%3Fc/test/me.test.js:3:17)",
  ],
  [
    "a script on Windows",
    "C:\\work",
    "at callerOutside (C:\\work\\node_modules\\svc-sandbox\\dist\\a.cjs:1:2)",
    "at test (C:\\work\\test\\me.test.js:3:17)",
  ],
  [
    "a module on Windows",
    "C:\\work",
    "at callerOutside (file:///C:/work/node_modules/svc-sandbox/dist/a.js:1:2)",
    "at test (file:///C:/work/test/me.test.js:3:17)",
  ],
])("the place of the caller is relative to the working folder: %s", (_, folder, ownFrame, frame) => {
  expect(placeIn(folder, ownFrame, "at node:internal/timers:5:1", frame)).toBe("test/me.test.js:3:17");
});

test.each([
  ["in a folder with parentheses", "/web", "/web/app/(auth)/me.test.ts:3:17", "app/(auth)/me.test.ts:3:17"],
  ["outside of the working folder", "/app", "/srv/app/me.test.ts:3:17", "/srv/app/me.test.ts:3:17"],
])("the place of a caller %s", (_, folder, place, expected) => {
  const own = "at callerOutside (/lib/node_modules/svc-sandbox/dist/a.js:1:2)";
  expect(placeIn(folder, own, `at test (${place})`)).toBe(expected);
  expect(placeIn(folder, own, `at ${place}`)).toBe(expected);
});

test("code of the package itself is no caller", () => {
  const own = "at callerOutside (/home/user/svc-sandbox/dist/a.js:1:2)";
  expect(placeIn("/home/user", own, "at b (/home/user/svc-sandbox/dist/b.js:4:5)")).toBeUndefined();
});
