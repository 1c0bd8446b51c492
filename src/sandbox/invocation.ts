/** How the user starts things, for the commands in advice. */
export interface Invocation {
  /** Options that curl needs to reach the server. */
  readonly curlOptions: string;
  /** The command that certifies a client. */
  readonly certify: string;
  /** The client's command. */
  readonly command: string;
}

/** How the user reaches a server and certifies a client. `program`: how svc-sandbox is started. */
export function invocationOfServer(isSecure = false, program = "svc-sandbox"): Invocation {
  const curlOptions = isSecure ? "-k" : "";
  return { curlOptions, certify: `${program} certify`, command: "npm test" };
}
