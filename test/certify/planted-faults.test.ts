import { join } from "node:path";
import { expect, test } from "vitest";
import type { CertifyResult } from "../../src/certify/result.js";
import { faultPathIds } from "../../src/domain/outcomes.js";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const planted = join(root, "test/support/planted-client.js");

// One after the other: two of these clients mind how long an answer takes.
test.each(faultPathIds)("a client that gives up by %s breaks in that run, and in no other", async (fault) => {
  const argv = ["certify", "--json", "--seeds", "1", "--faults", "--timeout", "5s"];
  const command = [process.execPath, planted, "--mistake", fault];
  const { stdout } = await runCli([...argv, "--", ...command], { cwd: temporaryFolder() });
  const { runs } = JSON.parse(stdout) as Pick<CertifyResult, "runs">;
  const broken = runs.filter(({ outcome }) => outcome !== "passed");
  expect(broken.map(({ name }) => name)).toEqual([fault]);
  expect(broken[0]?.cause).toMatchObject({ points: [], fault });
});
