import { expect, test } from "vitest";
import { isLoopbackHost } from "./host-names.js";

test.each([
  ["localhost", true],
  ["LOCALHOST:80", true],
  ["a.localhost:1", true],
  ["127.0.0.1", true],
  ["127.1.2.3:443", true],
  ["[::1]:80", true],
  ["[::ffff:127.0.0.1]", true],
  ["[::ffff:7f00:1]", true],
  ["127.0.0.1.example", false],
  ["localhost.example", false],
  ["notlocalhost", false],
  ["128.0.0.1", false],
  ["[::2]", false],
  ["[::ffff:8f00:1]", false],
])("the Host %s is this machine's: %s", (host, isOurs) => {
  expect(isLoopbackHost(host)).toBe(isOurs);
});
