import { describe, expect, it } from "vitest";
import { compareTexts } from "./compare-texts.js";

/** Compares texts of an unknown key, of an expired key, and others, each twice. */
const compare = (unknown: (string | undefined)[], expired: (string | undefined)[], missing = unknown) => {
  const texts = [];
  for (const round of [0, 1]) {
    texts.push({ cause: "401.missing", text: missing[round] } as const);
    texts.push({ cause: "401.unknown", text: unknown[round] } as const);
    texts.push({ cause: "401.expired", text: expired[round] } as const);
  }
  return compareTexts(texts);
};

describe("compareTexts", () => {
  it("tells texts apart that are always others, also a missing one and one of spaces", () => {
    for (const text of ["Expired.", "No valid keys.", " ", undefined]) {
      const comparison = compare(["No valid key.", "No valid key."], [text, text]);
      expect(comparison).toMatchObject({ kind: "differs", baseline: "401.unknown" });
      expect(comparison.kind === "differs" && comparison.textsByCause.get("401.expired")).toBe(text);
    }
  });

  it("ignores words that are new in each response", () => {
    const missing = ["id e5", "id f6"];
    expect(compare(["id a1", "id b2"], ["id c3", "id d4"], missing).kind).toBe("agrees");
    const other = compare(["id a1", "id b2"], ["no c3", "no d4"], missing);
    expect(other.kind === "differs" && [...other.textsByCause.values()]).toEqual(["id …", "id …", "no …"]);
  });

  it("does not judge what varies within a cause in other words, or in their number", () => {
    expect(compare(["node a", "node b"], ["node a", "node a"]).kind).toBe("unjudged");
    expect(compare(["node a", "node a"], ["node a", "node b"]).kind).toBe("unjudged");
    expect(compare(["no", "no key"], ["gone", "gone"]).kind).toBe("unjudged");
    expect(compare(["no", undefined], ["gone", "gone"]).kind).toBe("unjudged");
  });

  it("does not judge a text of new words only next to one with another number of words", () => {
    expect(compare(["a1", "b2"], ["node 1", "node 1"], ["c3", "d4"]).kind).toBe("unjudged");
  });

  it("ignores a time that two responses in one second share, but no earlier one that comes again", () => {
    expect(compare(["at 09:00:01", "at 09:00:02"], ["at 09:00:01", "at 09:00:02"]).kind).toBe("agrees");
    expect(compare(["at 09:00:01", "at 09:00:02"], ["at 09:00:02", "at 09:00:01"]).kind).toBe("unjudged");
  });

  it("takes malformed keys for the baseline if only unknown keys are odd", () => {
    const texts = ["401.unknown", "401.malformed", "401.missing"].flatMap((cause) => {
      const text = cause === "401.unknown" ? "Who?" : "No valid key.";
      return [{ cause, text } as never, { cause, text } as never];
    });
    expect(compareTexts(texts)).toMatchObject({ kind: "differs", baseline: "401.malformed" });
    expect(compareTexts(texts.slice(0, 4))).toMatchObject({ kind: "differs", baseline: "401.unknown" });
  });

  it.each([
    ["invalid-7f3a", "invalid-91c2", "revoked-0b1d", "revoked-e5a4"],
    ["invalid/7f3a", "invalid/91c2", "revoked/0b1d", "revoked/e5a4"],
    ["7f3a.invalid", "91c2.invalid", "0b1d.revoked", "e5a4.revoked"],
    ["Ref UNK4711", "Ref UNK8133", "Ref REV9042", "Ref REV1207"],
    ["trace 7f3a2b", "trace 91c2d0", "trace 104711", "trace 204712"],
    ["7f3a2b1c", "91c2d0aa", "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b4", "0f1e7f0e-6c0b-4f57-9c53-0d2f3ce1a6b4"],
    ["7f3a2b", "91c2d0", "7f3a2b1c91c2d0aa", "81c2d0aa7f3a2b1c"],
  ])("tells new words with another constant part apart: %s, %s, and %s, %s", (first, second, ...others) => {
    const third = first.replace("7", "a");
    const fourth = second.replace("1", "b");
    expect(compare([first, second], others, [third, fourth]).kind).toBe("differs");
  });

  it("does not judge new words whose constant part only some responses have", () => {
    const mixed = ["revoked-7f3a", "invalid-0c1d"];
    expect(compare(["invalid-91c2", "invalid-e5a4"], mixed, ["invalid-aa01", "invalid-bb02"]).kind).toBe(
      "unjudged",
    );
  });

  it("finds one constant part for all, and starts that are alike by chance", () => {
    expect(compare(["err-7f3a", "err-91c2"], ["err-7b1d", "err-7c5d"], ["err-aa01", "err-bb02"]).kind).toBe(
      "agrees",
    );
    expect(compare(["8f3a", "91c2"], ["7b1d", "7c5d"], ["aa01", "bb02"]).kind).toBe("agrees");
    expect(compare(["99", "102"], ["100", "103"], ["101", "98"]).kind).toBe("agrees");
  });
});
