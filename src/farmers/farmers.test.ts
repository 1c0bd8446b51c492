import { expect, test } from "vitest";
import { farmerId, indexOfFarmer } from "./farmers.js";

test("an id of another seed, a changed id and a text that is not an id find no farmer", () => {
  const id = farmerId(1, 5);
  expect(indexOfFarmer({ seed: 2 }, id)).toBeUndefined();
  for (let i = 7; i < id.length; i++) {
    const changed = id.slice(0, i) + (id[i] === "0" ? "1" : "0") + id.slice(i + 1);
    expect(indexOfFarmer({ seed: 1 }, changed)).toBeUndefined();
  }
  for (const other of [
    "",
    "farmer_",
    id.toUpperCase(),
    `${id}0`,
    id.slice(0, -1),
    id.slice(7),
    ` ${id}`,
    `${id}\n`,
  ])
    expect(indexOfFarmer({ seed: 1 }, other)).toBeUndefined();
});
