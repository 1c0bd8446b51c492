/** The code of a response that starts another protocol: its status. */
export const otherProtocolCode = "101";

/** What a connection's error means, by its code. The first row that matches counts. */
const connectionErrors: readonly (readonly [codes: RegExp, found: string, hint: string])[] = [
  [
    /^(?:ENOTFOUND|EAI_\w+|ENODATA)$/,
    "the host name cannot be resolved",
    "Check its spelling and this machine's DNS.",
  ],
  [
    /^ECONNREFUSED$/,
    "nothing listens at this address and port",
    "Check that it is running. If it uses another port, pass its URL.",
  ],
  [
    /^(?:E(?:HOST|NET)\w+|EADDRNOTAVAIL|EACCES|EPERM|EINVAL|ETIMEDOUT)$/,
    "this host cannot be reached",
    "Check the network, the VPN and the firewall.",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$|^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
    "its certificate is for another name, or not valid today",
    "Use the name in the certificate, and check this machine's clock.",
  ],
  [
    /SELF_SIGNED_CERT|^(?:UNABLE_TO_\w+|CERT_\w+|INVALID_CA|HOSTNAME_MISMATCH)$/,
    "its certificate is not trusted on this machine",
    "If it should be, set NODE_EXTRA_CA_CERTS to a file with its authority's certificate. No flag turns this check off.",
  ],
  [
    /^ERR_SSL_\w*CERTIFICATE_REQUIRED$/,
    "it asks for a certificate of the client (mutual TLS)",
    "Only compare has one, with --cert and --key.",
  ],
  [
    /^ERR_SSL_\w*ALERT_(?:UNKNOWN_CA|\w*CERTIFICATE\w*|ACCESS_DENIED)$/,
    "it rejects the certificate of the client (mutual TLS)",
    "Check that the server trusts the authority of --cert, and that the certificate is valid today.",
  ],
  [
    /^(?:EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    "no secure connection could be made",
    "Does this port speak HTTPS? If it speaks plain HTTP, start the URL with http://.",
  ],
  [
    /^HPE_\w+$/,
    "its response is not valid HTTP",
    "Does this port speak HTTP? If it speaks HTTPS, start the URL with https://.",
  ],
  [/^101$/, "it switches to another protocol", "Is it a sandbox, or the API, that responds there?"],
  [
    /^/,
    "the connection was closed before a response came",
    "Does the port speak HTTPS? If not, the server or something between is broken or rejects this client.",
  ],
];

/** Describes why a connection failed, with a hint. */
export function describeConnectionError(error: NodeJS.ErrnoException): { found: string; hint: string } {
  // If several addresses were tried, the first error is used for all.
  const [first] = ((error as Partial<AggregateError>).errors ?? []) as NodeJS.ErrnoException[];
  const code = error.code ?? first?.code ?? "";
  const [, found = "", hint = ""] = connectionErrors.find(([codes]) => codes.test(code)) ?? [];
  if (code === "") return { found, hint };
  return { found: `${found} (${code})`, hint };
}
