import { expect, test } from "vitest";
import { baseUrlFor, certificateName, hostToConnectTo, isLoopback } from "./addresses.js";

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
    expect(hostToConnectTo(address)).toBe(host);
    expect(isLoopback(address)).toBe(isOwn);
  },
);

test.each([
  ["[::1]:80", "::1"],
  ["A.example:1", "a.example"],
  ["b", "b"],
])("the Host %s has the name %s", (host, name) => expect(certificateName(host)).toBe(name));

test.each([
  [{ host: "a.example:1" }, "http://a.example:1"],
  [{ host: "a.example", "x-forwarded-host": "b.example", "x-forwarded-proto": "https" }, "http://a.example"],
  [{ host: "a b" }, "http://own:1"],
  [{}, "http://own:1"],
])("the sender of %j reaches the server at %s", (headers, url) => {
  expect(baseUrlFor({ headers }, "http://own:1")).toBe(url);
});

test("the sender of a request reaches a server on an IPv6 address with a zone", () => {
  expect(baseUrlFor({ headers: { host: "[fe80::1]:80" } }, "http://[fe80::1%eth0]:80")).toBe(
    "http://[fe80::1]:80",
  );
});
