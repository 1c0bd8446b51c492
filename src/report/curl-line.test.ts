import { expect, test } from "vitest";
import { curlLine } from "./curl-line.js";

test.each([
  ["/v1/relying-party/me", '"$SVC_BASE_URL/v1/relying-party/me"'],
  ["/v1/../me", `--globoff --path-as-is "$SVC_BASE_URL"/v1/../me`],
  ["/v1/.", `--globoff --path-as-is "$SVC_BASE_URL"/v1/.`],
  ["/v1/{id}", `--globoff --path-as-is "$SVC_BASE_URL"'/v1/{id}'`],
])("curl sends the path %s as it is, with the options for that at most once", (path, url) => {
  expect(curlLine({ ref: "none", path }, "-i", "404.unknown_path")).toBe(`curl -i ${url}`);
});
