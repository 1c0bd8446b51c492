import { expect, test } from "vitest";
import { shapeProblems } from "../../schema/check.js";
import type { Notation } from "../../schema/notation.js";
import type { Shape } from "../../schema/shape.js";
import { controlBodies } from "./control-bodies.js";
import { jsonNotation, libraryNotation } from "./notations.js";

test.each<[hint: string, notation: Notation, shape: Shape, value: unknown]>([
  ['write { "by": "61m" }', jsonNotation, controlBodies.clock_advance, "61m"],
  ['write { by: "61m" }', libraryNotation, controlBodies.clock_advance, "61m"],
  ['write "60s" or "60m"', libraryNotation, controlBodies.key_rotation, { overlap: "60" }],
  ['write { overlap: "10m" }', libraryNotation, controlBodies.key_rotation, "10m"],
  [
    'did you mean "liveAccess"?',
    libraryNotation,
    controlBodies.organization_update,
    { live_acces: "approved" },
  ],
  [
    'did you mean "live_access"?',
    jsonNotation,
    controlBodies.organization_update,
    { live_acces: "approved" },
  ],
  [
    "write its fields without a list around them",
    jsonNotation,
    controlBodies.key_rotation,
    [{ overlap: "1m" }],
  ],
])("a hint is in the words of its caller: %s", (hint, notation, shape, value) => {
  expect(shapeProblems(shape, value, notation).map((problem) => problem.hint)).toEqual([hint]);
});
