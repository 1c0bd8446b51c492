import { expect, test } from "vitest";
import { others } from "../support/coverage.js";
import { runCli } from "../support/run-cli.js";
import { client, clientFolder } from "./exec-client.js";

test("a first report fits on a screen, and names the variables of the keys that are left", async () => {
  const argv = ["exec", "--", ...client("active", "revoked", "none")];
  const options = { cwd: clientFolder(), terminal: true, columns: 80, env: { NO_COLOR: "1" } };
  const { stderr } = await runCli(argv, options);
  expect(stderr.split("\n").length).toBeLessThanOrEqual(40 + (others.length && 3 + 6 * others.length));
  expect(stderr).toContain("SVC_KEY_ORGANIZATION_INACTIVE");
});
