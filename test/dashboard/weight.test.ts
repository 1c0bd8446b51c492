import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";

test("the script and the style sheet of the page have at most 29,000 bytes with Brotli", () => {
  const folder = join(root, "dist/dashboard/assets");
  const files = readdirSync(folder).filter((file) => /\.(?:css|js)\.br$/.test(file));
  expect(files).toHaveLength(2);

  let bytes = 0;
  for (const file of files) bytes += statSync(join(folder, file)).size;
  expect(bytes).toBeLessThanOrEqual(29_000);
});
