import { expect, test } from "vitest";
import { isOlderVersion, usersPackage } from "./users-package.js";

const load = (message: string) =>
  usersPackage(
    { entry: "svc-sandbox/msw", name: "msw", since: "2.10" },
    () => Promise.reject(new Error(message)),
    () => undefined,
  );

test.each([
  "Cannot find package 'msw' imported from a.js",
  "svc-sandbox tried to access msw (a peer dependency)",
])("a package that is not installed is named with its oldest version: %s", async (message) => {
  const details = { package: "msw", since: "2.10" };
  await expect(load(message)).rejects.toMatchObject({ code: "package_unusable", details });
});

test("an error of the package itself stays as it is", async () => {
  await expect(load("Cannot find package 'graphql'")).rejects.toThrow("Cannot find package 'graphql'");
});

test.each([
  ["3.1.9", true],
  ["3.2.0-beta.1", true],
  ["3.2.0", false],
  ["3.10.0", false],
  ["4.0.0-beta.2", false],
])("whether %s is older than 3.2: %s", (version, isOlder) => {
  expect(isOlderVersion(version, "3.2")).toBe(isOlder);
});
