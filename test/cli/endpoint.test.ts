import { expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";

const scenario = "announced-endpoints";

test("keys lists the response of each key at the given endpoint", async () => {
  const outcomes = async (...flags: string[]) => {
    const { stdout } = await runCli(["keys", scenario, "--format", "json", ...flags]);
    return new Set(JSON.parse(stdout).map((row: { outcome: string }) => row.outcome));
  };
  expect(await outcomes()).not.toContain("200.listAttestations");
  expect(await outcomes("--endpoint", "listAttestations")).toContain("200.listAttestations");
});
