import { exchange } from "./exchange.js";

export interface HttpsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  readonly body: any;
}

/** Asks over HTTPS, trusting this certificate alone; rejects when the server shows another one. */
export async function askHttps(
  url: string,
  ca: string | undefined,
  { json, ...sent }: { method?: string; headers?: Record<string, string>; json?: object } = {},
): Promise<HttpsResponse> {
  const asJson = json && { body: JSON.stringify(json), headers: { "content-type": "application/json" } };
  const { status, headers, bytes } = await exchange(url, {
    ...sent,
    ...asJson,
    ...(ca !== undefined && { ca }),
  });
  const text = bytes.toString();
  const isJson = headers["content-type"]?.startsWith("application/json") && text !== "";
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}
