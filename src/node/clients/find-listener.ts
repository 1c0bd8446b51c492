import { controlPath } from "../../rules/known-paths.js";
import { isLoopbackHost } from "../host-names.js";
import { nodePlatform } from "../platform.js";
import { healthShape, jsonObjectIn, printableText, readAs } from "./control-replies.js";
import { isNoResponse, type NoResponse, type RawResponse, type SendOptions, sendOnce } from "./send-once.js";

/** A sandbox that runs, of this or another version. */
interface RunningSandbox {
  readonly url: string;
  readonly version: string;
  /** `undefined` if it requires a control token. */
  readonly scenario?: string;
  readonly startedAt?: string | undefined;
}

/** What is at an address; `silent` accepts connections, and does not respond in time. */
type PortListener =
  | { readonly kind: "sandbox"; readonly sandbox: RunningSandbox }
  | { readonly kind: "silent" | "other" | "nothing" };

/** Milliseconds: on a busy machine, the first call takes more than a second, because it loads the control plane. */
export const longestSearch = 3000;

/** Looks for a svc-sandbox at an address, over HTTP and HTTPS. */
export async function findListener(authority: string, timeout = longestSearch): Promise<PortListener> {
  const startedAt = nodePlatform.stopwatch();
  const plain = await listenerAt(`http://${authority}`, { timeout });
  if (maybeSandbox(plain)) return plain;

  const timeLeft = Math.ceil(timeout - (nodePlatform.stopwatch() - startedAt));
  const secure = await listenerAt(`https://${authority}`, { timeout: Math.max(1, timeLeft) });
  // A server of plain HTTP waits for more after the first message of HTTPS, so that it seems silent there.
  const isOfHttp = plain.kind === "other" && secure.kind === "silent";
  return isOfHttp ? plain : secure;
}

/** How to ask whether a sandbox is there. */
interface AskOptions {
  /** Milliseconds. */
  readonly timeout: number;
  /** A certificate authority (PEM) to trust besides those that Node trusts. */
  readonly ca?: string | undefined;
}

/** Asks for the health of a sandbox, which any version has. */
export async function listenerAt(url: string, options: AskOptions): Promise<PortListener> {
  const response = await sendToSandbox(new URL(`${url}${controlPath}/health`), {
    ...options,
    maxBody: 64 * 1024,
  });
  if (isNoResponse(response)) return { kind: response.noResponse === "late" ? "silent" : "nothing" };
  if (response.status !== 200) return { kind: "other" };
  const health = readAs(healthShape, jsonObjectIn(response.body));
  if (health === undefined) return { kind: "other" };

  const { version, scenario, started_at: startedAt } = health;
  if (scenario === undefined) return { kind: "sandbox", sandbox: { url, version } };
  return { kind: "sandbox", sandbox: { url, version, scenario: printableText(scenario), startedAt } };
}

/** Whether a sandbox is there, or may be: it was too slow to show what it is. */
export function maybeSandbox({ kind }: PortListener): boolean {
  return kind === "sandbox" || kind === "silent";
}

/** Sends a request to a sandbox. On this machine, where plain HTTP would also be unchecked, any certificate is accepted: most are self-signed. */
export function sendToSandbox(url: URL, options: SendOptions): Promise<RawResponse | NoResponse> {
  const anyCertificate = options.ca === undefined && isLoopbackHost(url.host);
  return sendOnce(url, { ...options, anyCertificate });
}
