import { expect, test } from "vitest";
import { Stops } from "./stops.js";

test("the part that started last stops first, and an error skips no other part", async () => {
  const stops = new Stops();
  const stopped: string[] = [];
  const failure = new Error("the file is on a full disk");
  stops.add(() => void stopped.push("state file"));
  stops.add(async () => {
    throw failure;
  });
  stops.add(async () => void stopped.push("watch"));
  expect(await stops.stop()).toEqual([failure]);
  expect(stopped).toEqual(["watch", "state file"]);
});
