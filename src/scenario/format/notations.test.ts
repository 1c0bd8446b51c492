import { expect, test } from "vitest";
import { checkShape } from "../../schema/check.js";
import { jsonNotation, libraryNotation, type Notation } from "../../schema/describe.js";
import type { Shape } from "../../schema/shape.js";
import { controlBodies } from "./inputs.js";

test.each<[hint: string, notation: Notation, shape: Shape, value: unknown]>([
  ["write 60s or 60m", libraryNotation, controlBodies.key_rotation, { overlap: "60" }],
  ['add "by"', jsonNotation, controlBodies.clock_advance, {}],
  ["add by", libraryNotation, controlBodies.clock_advance, {}],
  ["write a mapping; its fields are overlap and as", libraryNotation, controlBodies.key_rotation, "10m"],
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
])("a hint is in the words of its caller: %s", (hint, notation, shape, value) => {
  expect(checkShape(shape, value, notation).problems.map((problem) => problem.hint)).toEqual([hint]);
});
