import { expect, test } from "vitest";
import { StartedParts } from "./started-parts.js";

test("the part that started last stops first, and an error skips no other part", async () => {
  const parts = new StartedParts();
  const stopped: string[] = [];
  const failure = new Error("the file is on a full disk");
  parts.add(() => void stopped.push("state file"));
  parts.add(async () => {
    throw failure;
  });
  parts.add(async () => void stopped.push("watch"));
  expect(await parts.stop()).toEqual([failure]);
  expect(stopped).toEqual(["watch", "state file"]);
});
