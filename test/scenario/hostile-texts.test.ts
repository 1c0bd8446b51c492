import { expect, test } from "vitest";
import type { ScenarioProblemCode } from "../../src/index.js";
import { maximumScenarioBytes } from "../../src/scenario/read/source.js";
import { inKeys, problemsOf } from "../support/problems-of.js";

/** Texts that are too big, or too odd, to keep as files. */
const hostile: Readonly<Record<string, readonly [string, ScenarioProblemCode]>> = {
  "ten thousand open brackets": ["[".repeat(10_000), "too_deep"],
  "a staircase of mappings": [
    Array.from({ length: 500 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
    "too_deep",
  ],
  "more than 1 MiB": [inKeys(`# ${"x".repeat(maximumScenarioBytes)}`), "too_large"],
  "more than 1 MiB in UTF-8 only": [inKeys(`# ${"銀".repeat(maximumScenarioBytes / 2)}`), "too_large"],
  "half a million closing brackets": ["]\n".repeat(500_000), "yaml_syntax"],
  "a quote that is open for 1 MB": [`a: "${"x\n".repeat(500_000)}`, "yaml_syntax"],
  "hundreds of thousands of documents": ["---\n".repeat(250_000), "several_documents"],
  "a wrong field thirty thousand times": [
    Array.from({ length: 30_000 }, (_, index) => `field${index}: 1\n`).join(""),
    "unknown_field",
  ],
  "the same field thirty thousand times on a line": [`{ ${"name: a, ".repeat(30_000)} }`, "duplicate_field"],
  "an unknown alias thirty thousand times": [`version: 1\nx: [${"*x, ".repeat(30_000)}]`, "bad_alias"],
  "a tag thirty thousand times": [`version: 1\nx: [${"!x 1, ".repeat(30_000)}]`, "yaml_tag"],
  "eight thousand keys whose refs are wrong": [
    inKeys(Array.from({ length: 8_000 }, (_, index) => `      k_${index}: {}\n`).join("")),
    "bad_ref",
  ],
  "five thousand keys that replace each other in a circle": [
    inKeys(
      Array.from(
        { length: 5_000 },
        (_, i) => `      k${i}: { environment: test, state: retiring, replaced_by: k${(i + 1) % 5_000} }\n`,
      ).join(""),
    ),
    "replacement_cycle",
  ],
  "60,000 aliases of a list": [`version: 1\nx: &x [1, 2, 3]\ny: [${"*x, ".repeat(60_000)}]`, "too_large"],
  "a NUL character": ["version: 1\nname: a\u0000b\n", "not_text"],
  "a picture": ["\uFFFDPNG\r\n\u001A\n\u0000\u0000", "not_text"],
};

test.each(Object.entries(hostile))("%s is refused", { timeout: 20_000 }, (_name, [text, code]) => {
  const problems = problemsOf(text);
  expect(problems.map((problem) => problem.code)).toContain(code);
  expect(problems.every((problem) => (problem.source ?? "").length < 200)).toBe(true);
});
