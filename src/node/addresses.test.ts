import { expect, test } from "vitest";
import * as addresses from "./addresses.js";

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
  expect(addresses.isLoopbackHost(host)).toBe(isOurs);
});

test.each([
  ["0.0.0.0", "127.0.0.1", false],
  ["::", "127.0.0.1", false],
  ["::1", "[::1]", true],
  ["127.9.9.9", "127.9.9.9", true],
  ["::ffff:127.0.0.1", "[::ffff:127.0.0.1]", true],
  ["10.0.0.1", "10.0.0.1", false],
  ["name", "name", false],
])(
  "clients on this machine reach the address %s as %s; it is a loopback address: %s",
  (address, host, isOwn) => {
    expect(addresses.hostToConnectTo(address)).toBe(host);
    expect(addresses.isLoopback(address)).toBe(isOwn);
  },
);

test.each([
  ["[::1]:80", "::1"],
  ["A.example:1", "a.example"],
  ["b", "b"],
])("the Host %s has the name %s", (host, name) => expect(addresses.certificateName(host)).toBe(name));

test.each([
  [{ host: "a.example:1" }, "http://a.example:1"],
  [{ host: "a.example", "x-forwarded-host": "b.example", "x-forwarded-proto": "https" }, "http://a.example"],
  [{ host: "a b" }, "http://own:1"],
  [{}, "http://own:1"],
])("the sender of %j reaches the server at %s", (headers, url) => {
  expect(addresses.baseUrlFor({ headers }, "http://own:1")).toBe(url);
});
