import { expect, test } from "vitest";
import { readCommandLine } from "./command-line.js";
import { failureForm } from "./exit-codes.js";
import type { Io } from "./io.js";

const io = { cwd: "/", program: "svc-sandbox", env: {} } as unknown as Io;

test.each([
  [["--json"], { json: true, verbose: false }],
  [["--verbose", "--format=json"], { json: true, verbose: true }],
  [["--format", "text", "--", "--json", "--verbose"], { json: false, verbose: false }],
  [["--format", "jsonx"], { json: false, verbose: false }],
])("errors of %j are shown as %j", (argv, expected) => {
  expect(failureForm(["start", ...argv])).toEqual(expected);
});

test.each([
  [
    ["exec", "key-states", "--port", "0", "--", "npm", "test", "--", "-x"],
    ["key-states"],
    ["npm", "test", "--", "-x"],
  ],
  // A misspelled scenario is shown when it is read.
  [["exec", "npm", "--", "test"], ["npm"], ["test"]],
  [["start", "-p0", "--host=::1", "key-states"], ["key-states"], []],
  [["-p0", "key-states"], ["key-states"], []],
])("%j has the words %j, and the client %j", async (argv, args, clientCommand) => {
  expect((await readCommandLine(argv, io)).call).toMatchObject({ args, clientCommand });
});

test.each([
  [["exec", "--seed", "--", "npm", "test"], /^--seed needs a value\./],
  [["--write-env", "--watch"], /^--write-env needs a value, and --watch is another flag\./],
  [["exec", "pytest", "-v"], /^exec needs -- and your command/],
  [["exec", "--"], /^exec needs -- and your command/],
  [["exec", "--port", "0", "--port", "1", "--", "true"], /^--port appears more than once/],
  [["start", "--watch=yes"], /^--watch accepts no value/],
  [["start", "--tls", "--cert", "c.pem"], /^--tls and --cert cannot be used together/],
  [["serve", "--delay", "3"], /^"serve" is not a command/],
  [["--delay", "3"], /^Unknown flag "--delay"/],
  [["list", "key-states"], /^list does not use "key-states"/],
  [["compare"], /^compare needs <base-url>/],
  [["certify", "--frozen", "--", "true"], /^Unknown flag "--frozen"/],
  // After a command, it is a flag of other commands for more output.
  [["exec", "-v", "--", "false"], /^Unknown flag "-v"\. Did you mean --verbose/],
  [["verify", "--version"], /^Unknown flag "--version"\. Did you mean --verbose/],
])("%j is a usage error: %s", async (argv, message) => {
  await expect(readCommandLine(argv, io)).rejects.toMatchObject({
    code: "usage",
    message: expect.stringMatching(message),
  });
});

test("a variable of start sets a flag that the line does not, and the first one counts", async () => {
  const env = { SVC_SANDBOX_PORT: "1", PORT: "2", SVC_SANDBOX_SEED: "3", SVC_SANDBOX_STATE: "" };
  const flagsOf = async (argv: readonly string[]) => (await readCommandLine(argv, { ...io, env })).call.flags;
  expect(await flagsOf(["--seed", "4"])).toEqual({ port: 1, seed: 4 });
  expect(await flagsOf(["keys"])).toEqual({});
});
