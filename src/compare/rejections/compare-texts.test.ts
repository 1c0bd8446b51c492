import { describe, expect, it } from "vitest";
import { compareTexts } from "./compare-texts.js";

describe("compareTexts", () => {
  it("leaves open a text of ids only and a fixed text with another number of words", () => {
    const open = { kind: "open" };
    expect(compareTexts(["a1", "b2"], ["node 1", "node 1"])).toEqual(open);
    expect(compareTexts(["node 1", "node 1"], ["a1", "b2"])).toEqual(open);
    expect(compareTexts(["a1 c3", "b2 d4"], ["node", "node"])).toEqual(open);
  });

  it("tells fixed texts with different numbers of words apart, also a text of spaces", () => {
    expect(compareTexts([" ", " "], ["node 1", "node 1"]).kind).toBe("differs");
  });

  it("tells texts apart that differ in more than the words that vary", () => {
    const comparison = compareTexts(["id a1", "id b2"], ["no key", "no key"]);
    expect(comparison).toEqual({ kind: "differs", textOfCause: "id …", textOfBaseline: "no …" });
  });

  it("finds texts that agree without the words that vary", () => {
    expect(compareTexts(["id a1", "id b2"], ["id c3", "id c3"]).kind).toBe("agrees");
  });
});
