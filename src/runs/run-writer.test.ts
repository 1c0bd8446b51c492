import fs from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.js";
import { claimOnce } from "./run-writer.js";

test("only the first claim of a name succeeds", () => {
  const folder = temporaryFolder({});
  expect([claimOnce(folder, "first", fs), claimOnce(folder, "first", fs)]).toEqual([true, false]);
});

test("a claim that cannot be written is an error, and no claim of another process", () => {
  const folder = temporaryFolder({});
  expect(() => claimOnce(`${folder}/missing`, "first", fs)).toThrow(
    expect.objectContaining({ code: "ENOENT" }),
  );
});
