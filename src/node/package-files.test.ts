import { expect, test } from "vitest";
import { olderVersion } from "./package-files.js";

test("only an installed package can be too old, by its numbers", () => {
  const of = (name: string, since: string) => olderVersion({ name, since });
  expect([of("vitest", "4.0.9"), of("vitest", "1000.0.0"), of("no-such-package", "1.0.0")]).toEqual([
    ...[undefined, expect.stringMatching(/^\d+\.\d+\.\d+/), undefined],
  ]);
});
