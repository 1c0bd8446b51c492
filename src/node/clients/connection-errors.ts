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
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "its certificate is for another name", "Use a name in the certificate."],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired", "If it is valid, check this machine's clock."],
  [/^CERT_NOT_YET_VALID$/, "its certificate is not valid yet", "If it is valid, check this machine's clock."],
  [
    /SELF_SIGNED_CERT|^(?:UNABLE_TO_\w+|CERT_\w+|INVALID_CA|HOSTNAME_MISMATCH)$/,
    "its certificate is not trusted on this machine",
    "If it should be, set NODE_EXTRA_CA_CERTS to a file with its authority's certificate. No flag turns this check off.",
  ],
  [
    /^ERR_SSL_\w*(?:CERTIFICATE_REQUIRED|ALERT_(?:UNKNOWN_CA|\w*CERTIFICATE\w*|ACCESS_DENIED|HANDSHAKE_FAILURE))$/,
    "it asks for a certificate of the client (mutual TLS), or rejects this one",
    "Only compare has one, with --cert and --key.",
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

/** The words of an alert in the message of an error: `sslv3 alert handshake failure:…`. */
const alertInMessage = /\b(?:ssl|tls)v\w+ alert [a-z ]+(?=:)/;

/** Describes why a connection failed, with a hint. */
export function describeConnectionError(error: NodeJS.ErrnoException): { found: string; hint: string } {
  // If several addresses were tried, the first error is used for all.
  const [first] = ((error as Partial<AggregateError>).errors ?? []) as NodeJS.ErrnoException[];
  let code = error.code ?? first?.code ?? "";
  // Up to TLS 1.2, an alert has no code of its own.
  const [alert] = (code === "EPROTO" && alertInMessage.exec(error.message)) || [];
  if (alert !== undefined) code = `ERR_SSL_${alert.toUpperCase().replaceAll(" ", "_")}`;

  const [, found = "", hint = ""] = connectionErrors.find(([codes]) => codes.test(code)) ?? [];
  return { found: code === "" ? found : `${found} (${code})`, hint };
}
