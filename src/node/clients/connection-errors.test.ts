import { expect, test } from "vitest";
import { describeConnectionError } from "./connection-errors.js";

test.each([
  ["ECONNREFUSED", /pass its URL/],
  ["CERT_UNTRUSTED", /NODE_EXTRA_CA_CERTS/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /NODE_EXTRA_CA_CERTS/],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", /--cert and --key/],
  ["EPROTO", /https:/],
  ["HPE_INVALID_CONSTANT", /https:/],
  ["ENOTFOUND", /VPN/],
])(
  "a connection that fails with %s has Node's message and a hint, also if several addresses failed",
  (code, hint) => {
    const error = Object.assign(new Error(`connect ${code} 127.0.0.1`), { code });
    const all = Object.assign(new AggregateError([error, new Error("another")]), { code: undefined });
    for (const one of [error, all]) {
      const described = describeConnectionError(one as NodeJS.ErrnoException);
      expect(described).toEqual({
        found: expect.stringContaining(code),
        hint: expect.stringMatching(hint),
      });
    }
  },
);
