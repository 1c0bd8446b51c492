import type { NoAnswer } from "../../check/answer.js";

const codesOf: readonly (readonly [codes: RegExp, found: string, hint: string])[] = [
  [
    /^(?:ENOTFOUND|EAI_AGAIN|EAI_\w+|ENODATA)$/,
    "the name of the host cannot be resolved",
    "Check its spelling, and whether this machine's DNS knows it.",
  ],
  [/^ECONNREFUSED$/, "nothing listens at this address and port", "Is it running, and is the port right?"],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM|EINVAL)$/,
    "there is no way to this host",
    "Check the network, the VPN and the firewall.",
  ],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID)$/,
    "its certificate is for another name",
    "Use the name that the certificate has.",
  ],
  [
    /^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/,
    "its certificate is not valid today",
    "It has to be renewed, or this machine's clock is wrong.",
  ],
  [
    /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|INVALID_CA|HOSTNAME_MISMATCH)$/,
    "its certificate is not trusted on this machine",
    "If it should be, name a file with the certificate of its authority in NODE_EXTRA_CA_CERTS; there is no flag that looks away.",
  ],
  [
    /^(?:EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    "no secure connection could be made",
    "Does this port speak HTTPS? If it speaks plain HTTP, begin the URL with http://.",
  ],
  [/^ETIMEDOUT$/, "it could not be connected to in time", "Check the network, the VPN and the firewall."],
  [
    /^HPE_\w+$/,
    "what it sends is not HTTP",
    "Does this port speak HTTP? If it speaks HTTPS, begin the URL with https://.",
  ],
];

/** Describes an error of a connection and what to do about it. */
export function describeConnectionError(error: NodeJS.ErrnoException): NoAnswer {
  // When several addresses were tried, the first error stands for all.
  const [first] = (error as Partial<AggregateError>).errors ?? [];
  const code = error.code ?? (first as NodeJS.ErrnoException | undefined)?.code ?? "";
  const row = codesOf.find(([codes]) => codes.test(code));
  if (row === undefined) return resetBefore(code);
  const [, found, hint] = row;
  return { found: `${found} (${code})`, hint };
}

function resetBefore(code: string): NoAnswer {
  return {
    found: `the connection was closed before an answer came${code === "" ? "" : ` (${code})`}`,
    hint: "A port that speaks HTTPS does so to http://; else the server, or something between, is broken or refuses this client.",
  };
}
