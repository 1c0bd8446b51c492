import { controlPath } from "../../rules/known-paths.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { findMismatches } from "../../schema/check.js";
import { isTooDeep, tryParseJson } from "../../schema/json-text.js";
import * as s from "../../schema/shape.js";
import { isLoopbackHost } from "../host-names.js";
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

/** Looks for a svc-sandbox at an address, over HTTP and HTTPS, each in at most this time. */
export async function findListener(authority: string, timeout = longestSearch): Promise<PortListener> {
  const plain = await listenerAt(`http://${authority}`, { timeout });
  // A server of plain HTTP would seem silent over HTTPS: it waits for more.
  if (plain.kind !== "nothing") return plain;
  return listenerAt(`https://${authority}`, { timeout });
}

/** Asks for the health of a sandbox, which any version has. */
export async function listenerAt(
  url: string,
  options: Pick<SendOptions, "timeout" | "ca">,
): Promise<PortListener> {
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

// What a control plane replies. Any program may listen at its address, so that nothing without its shape is read.

const versionText = s.text({ max: 40, pattern: /^\d+\.\d+\.\d+[\w.+-]*$/ });
export const timeText = s.text({ max: 40, pattern: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ });

/** The health of a sandbox; one that requires a control token hides everything but its version. */
export const healthShape = s.openMapping({
  status: s.choice(["ok"]),
  version: versionText,
  scenario: s.optional(s.text()),
  started_at: s.optional(timeText),
  now: s.optional(timeText),
});

/** A value of another program; `undefined` if it does not have the shape. */
export function readAs<Of extends s.Shape>(shape: Of, value: unknown): s.ValueOf<Of> | undefined {
  return findMismatches(shape, value).length === 0 ? (value as s.ValueOf<Of>) : undefined;
}

/** The JSON object in a body; an empty one if the body is anything else. */
export function jsonObjectIn(body: Uint8Array): object {
  const json = tryParseJson(new TextDecoder().decode(body));
  const isReadable = typeof json === "object" && json !== null && !isTooDeep(json);
  return isReadable ? json : {};
}

/** A text of another program, as the terminal may show it. */
export function printableText(text: string): string {
  return oneSafeLine(text.slice(0, 500));
}
