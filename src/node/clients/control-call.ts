import { readFileSync, statSync } from "node:fs";
import { readHttpUrl } from "../../rules/base-url.js";
import { SandboxError } from "../../rules/errors.js";
import { mapTexts, redact } from "../../rules/keys/redact.js";
import { controlPath } from "../../rules/known-paths.js";
import * as s from "../../schema/shape.js";
import { quoteFile } from "../../schema/words.js";
import { readFailure, rejectEndlessFile } from "../files/write-file.js";
import { jsonObjectIn, readAs, sendToSandbox } from "./find-listener.js";
import { isNoResponse } from "./send-once.js";

/** Where a control plane is, and how to ask it. */
export interface ControlAddress {
  /** The base URL of a sandbox, or the URL of its control plane. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Where the token was given, for messages. */
  readonly tokenFrom: string;
  /** A file with a certificate authority (PEM) to trust. */
  readonly ca?: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

/** The response of a control plane to a call that it did not reject for its token. */
interface ControlReply {
  readonly status: number;
  /** The JSON object in the body; empty if there is none. */
  readonly body: { readonly data?: unknown; readonly error?: unknown };
}

const controlErrorShape = s.openMapping({
  code: s.text(),
  message: s.text(),
  details: s.optional(s.openMapping({ request: s.optional(s.text()), ref: s.optional(s.text()) })),
});

/** The most bytes of a response. */
const maxResponse = 16 * 1024 * 1024;

/** One call of a control plane. Its errors start with what failed, and at which URL. */
export class ControlCall {
  readonly #address: ControlAddress;
  readonly #method: "GET" | "POST";
  readonly #url: URL;
  /** What the messages of its errors start with: `Failed to stop http://127.0.0.1:4747`. */
  readonly #whatFailed: string;

  /** `purpose` is for messages: failed to `purpose` this URL. */
  constructor(
    address: ControlAddress,
    purpose: string,
    { method, path }: { readonly method: "GET" | "POST"; readonly path: string },
  ) {
    const baseUrl = readSandboxUrl(address.url);
    this.#address = address;
    this.#method = method;
    this.#url = new URL(baseUrl + controlPath + path);
    this.#whatFailed = `Failed to ${purpose} ${redact(method === "GET" ? this.#url.href : baseUrl)}`;
  }

  /** Makes the call. Throws if it gets no response, or needs another token. */
  async send(): Promise<ControlReply> {
    const { token, tokenFrom, timeout, ca } = this.#address;
    const response = await sendToSandbox(this.#url, {
      method: this.#method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      timeout,
      maxBody: maxResponse,
      ca: readAuthority(ca),
    });
    if (isNoResponse(response)) throw this.errorBecause(`${response.found}. ${response.hint}`);

    const hideToken = (text: string) => this.#withoutToken(text);
    const body = mapTexts(jsonObjectIn(response.body), hideToken) as ControlReply["body"]; // the same members
    const error = readAs(controlErrorShape, body.error);
    if (error?.code === "control_token_required") {
      if (token === undefined) {
        throw this.errorBecause("it requires its token: give it with --control-token.");
      }
      throw this.errorBecause(`it rejects the token from ${tokenFrom}. Give its own with --control-token.`);
    }
    return { status: response.status, body };
  }

  /** The error of this call; `why` ends its message. */
  errorBecause(why: string): SandboxError {
    return new SandboxError("usage", `${this.#whatFailed}: ${this.#withoutToken(why)}`);
  }

  /** A server may state the token, and outputs end up in logs. */
  #withoutToken(text: string): string {
    const { token } = this.#address;
    return token === undefined ? text : text.replaceAll(token, "…");
  }
}

/** The base URL of a sandbox, also from the URL of its control plane. Throws `usage`. */
export function readSandboxUrl(text: string): string {
  const url = readHttpUrl(text);
  if (url === undefined) {
    // Without the URL, which may contain a password.
    throw new SandboxError(
      "usage",
      "Invalid sandbox URL. Use its base URL or its control plane's URL, such as http://127.0.0.1:4747.",
    );
  }
  // With a slash at its end, `/__sandbox` is found as a whole part, also as the last one.
  const pathname = `${url.pathname.replace(/\/+$/, "")}/`;
  const [front = ""] = pathname.split(`${controlPath}/`);
  return url.origin + front.replace(/\/+$/, "");
}

/** The certificate authority in a file, if one is named. Throws `usage`. */
export function readAuthority(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    rejectEndlessFile(statSync(file));
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SandboxError("usage", `Failed to read --ca ${quoteFile(file)}: ${readFailure(error)}.`);
  }
}
