import { expect, test } from "vitest";
import { curlLine } from "./curl-line.js";

test.each([
  ["/v1/relying-party/me", '"$SVC_BASE_URL/v1/relying-party/me"'],
  ["/v1/../me", `--globoff --path-as-is "$SVC_BASE_URL"/v1/../me`],
  ["/v1/.", `--globoff --path-as-is "$SVC_BASE_URL"/v1/.`],
  // curl would drop what is behind a `#`.
  ["/v1/relying-party/me#x", '"$SVC_BASE_URL/v1/relying-party/me%23x"'],
  ["/v1/{id}", `--globoff --path-as-is "$SVC_BASE_URL"'/v1/{id}'`],
])("curl sends all of the path %s, with the options for that at most once", (path, url) => {
  expect(curlLine({ key: "none", path }, "-i", "404.unknown_path")).toBe(`curl -i ${url}`);
});
