import { expect, test } from "vitest";
import { type ContractOutcome, findKey, keysInVariables, notesOnVariables } from "./keys.js";

test.each([
  [{ SVC_KEY_LIVE: " SVC_live_a " }, "SVC_KEY_LIVE"],
  [{ SVC_KEY_LIVE: "", SVC_API_KEY: "legacysvc_live_b" }, "SVC_API_KEY"],
  [{ SVC_KEY_LIVE: "SVC_test_a" }, "SVC_KEY_LIVE is not a live key"],
  [{ SVC_API_KEY: "SVC_test_a" }, "needs a live key in SVC_KEY_LIVE or SVC_API_KEY"],
  [{ SVC_KEY_LIVE: "SVC_live_\u007f" }, expect.stringContaining("is not a key")],
  [{ SVC_KEY_LIVE: "SVC_live_~!" }, "SVC_KEY_LIVE"],
])("of %j an outcome takes the variable with its key, or names the reason", (env, expected) => {
  const row: ContractOutcome = {
    outcome: "200.live",
    rule: "R1",
    kind: "live",
    variables: ["SVC_KEY_LIVE", "SVC_API_KEY"],
  };
  const key = findKey(row, env as Record<string, string>);
  expect(key.kind === "key" ? key.variable : key.why).toEqual(expected);
});

test("a comparison redacts the keys in variables, and lists the variables that no outcome uses", () => {
  const env = {
    SVC_API_KEY: " SVC_test_a ",
    SVC_KEY_MAIN: "legacysvc_live_b",
    SVC_KEY_UNKNOWN: "c",
    SVC_KEY_EMPTY: "",
    SVC_URL: "d",
    SVC_KEY_ANY: "no key",
  };
  expect(keysInVariables(env).map(([, key]) => key)).toEqual(["SVC_test_a", "legacysvc_live_b"]);
  const unused = ["SVC_KEY_ANY", "SVC_KEY_MAIN"];
  expect(notesOnVariables(env)).toEqual(
    unused.map((name) => `${name} is not used: no outcome has this name.`),
  );
});
