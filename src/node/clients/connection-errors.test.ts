import { expect, test } from "vitest";
import { describeConnectionError } from "./connection-errors.js";

test.each([
  ["ENOTFOUND", "the host name cannot be resolved"],
  ["ECONNREFUSED", "nothing listens"],
  ["EHOSTUNREACH", "this host cannot be reached"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another name"],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet"],
  ["CERT_UNTRUSTED", "its certificate is not trusted"],
  ["EPROTO", "no secure connection"],
  ["HPE_INVALID_CONSTANT", "its response is not valid HTTP"],
  ["ECONNRESET", "the connection was closed"],
  ["", "the connection was closed"],
])("a connection that fails with %j is described, also if several addresses failed", (code, found) => {
  const error = Object.assign(new Error(), code && { code });
  const all = Object.assign(new AggregateError([error, new Error()]), { code: undefined });
  const expected =
    code === ""
      ? expect.stringMatching(/ came$/)
      : expect.stringMatching(new RegExp(`^${found}.* \\(${code}\\)$`));
  for (const one of [error, all]) {
    expect(describeConnectionError(one as NodeJS.ErrnoException).found).toEqual(expected);
  }
});
