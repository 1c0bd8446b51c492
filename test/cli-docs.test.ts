import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cliReference } from "./support/cli-reference.js";

it("docs/cli.md says what the commands say about themselves (UPDATE=1 rewrites it)", async () => {
  const file = join(import.meta.dirname, "../docs/cli.md");
  const reference = await cliReference();
  if (process.env.UPDATE) writeFileSync(file, reference);
  expect(readFileSync(file, "utf8")).toBe(reference);
});
