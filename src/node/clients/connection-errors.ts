const untrusted =
  "If it should be trusted on this machine, set NODE_EXTRA_CA_CERTS to a file with its authority's certificate. No flag turns this check off.";

/** What to do about a connection's error, by its code. The first row that matches counts. */
const hintsByCode: readonly (readonly [codes: RegExp, hint: string])[] = [
  [/^ECONNREFUSED$/, "Check that it is running. If it uses another port, pass its URL."],
  [/SELF_SIGNED_CERT|^(?:UNABLE_TO_\w+|CERT_\w+|INVALID_CA|ERR_TLS_CERT_\w+)$/, untrusted],
  // Up to TLS 1.2, such an alert has no code of its own.
  [
    /^ERR_SSL_\w*(?:CERTIFICATE_REQUIRED|ALERT_\w+)$/,
    "It may ask for a certificate of the client (mutual TLS), or reject this one. Only compare has one, with --cert and --key.",
  ],
  [
    /^(?:EPROTO|ERR_SSL_\w+|ERR_TLS_\w+|HPE_\w+)$/,
    "Does this port speak the protocol of the URL, http: or https:? It may also ask for a certificate of the client (mutual TLS): only compare has one, with --cert and --key.",
  ],
  [/^/, "Check the address, the network, the VPN and the firewall."],
];

/** Describes why a connection failed, in Node's words, with a hint. */
export function describeConnectionError(error: NodeJS.ErrnoException): { found: string; hint: string } {
  // If several addresses were tried, the first error is used for all.
  const [first = error] = ((error as Partial<AggregateError>).errors ?? []) as NodeJS.ErrnoException[];
  const code = error.code ?? first.code ?? "";
  const [line = ""] = first.message.split("\n");
  const [, hint = ""] = hintsByCode.find(([codes]) => codes.test(code)) ?? [];
  // OpenSSL's own message has places in its source.
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) {
    return { found: `no secure connection could be made (${code})`, hint };
  }
  const isNamed = code === "" || line.includes(code);
  return { found: isNamed ? line : `${line} (${code})`, hint };
}
