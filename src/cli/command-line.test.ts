import { expect, test } from "vitest";
import { errorForm, readLine } from "./command-line.js";

test.each([
  [["--json"], {}, { json: true, verbose: false }],
  [["--verbose", "--format=json"], {}, { json: true, verbose: true }],
  [["--format", "text", "--", "--json", "--verbose"], {}, { json: false, verbose: false }],
  [
    ["--format", "jsonx"],
    { SVC_SANDBOX_VERBOSE: "Off", SVC_SANDBOX_JSON: "" },
    { json: false, verbose: false },
  ],
  [[], { SVC_SANDBOX_VERBOSE: "1", SVC_SANDBOX_JSON: "true" }, { json: true, verbose: true }],
])("errors of %j with %j are told as %j", async (argv, env, expected) => {
  const line = await readLine(["start", ...argv], { cwd: "/" });
  expect(errorForm(line, env)).toEqual(expected);
});

test.each([
  [
    ["exec", "key-states", "--port", "0", "--", "npm", "test", "--", "-x"],
    ["key-states"],
    ["npm", "test", "--", "-x"],
    [],
  ],
  [["exec", "pytest", "-v"], [], undefined, ["pytest", "-v"]],
  [["exec", "a.yaml", "npm", "test"], ["a.yaml"], undefined, ["npm", "test"]],
  // What stands right before the dashes is a scenario, also a misspelled one.
  [["exec", "npm", "--", "test"], ["npm"], ["test"], []],
  [["start", "-p0", "--host=::1", "key-states"], ["key-states"], undefined, []],
])(
  "%j has the words %j, the client %j, and the misplaced client %j",
  async (argv, words, clientCommand, misplacedCommand) => {
    expect(await readLine(argv, { cwd: "/" })).toMatchObject({ words, misplacedCommand });
    expect((await readLine(argv, { cwd: "/" })).clientCommand).toEqual(clientCommand);
  },
);
