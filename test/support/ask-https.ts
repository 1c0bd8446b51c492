import { request } from "node:https";

/** What came back over HTTPS. */
export interface HttpsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  readonly body: any;
}

/** Asks over HTTPS, trusting this certificate alone; rejects when the server shows another one. */
export function askHttps(
  url: string,
  ca: string | undefined,
  {
    method = "GET",
    headers = {},
    json,
  }: { method?: string; headers?: Record<string, string>; json?: object } = {},
): Promise<HttpsAnswer> {
  return new Promise((resolve, reject) => {
    const sent = json === undefined ? headers : { ...headers, "content-type": "application/json" };
    const sending = request(
      url,
      { method, headers: sent, ...(ca !== undefined && { ca }), agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => {
          const isJson =
            String(response.headers["content-type"]).startsWith("application/json") && text !== "";
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: isJson ? JSON.parse(text) : text,
          });
        });
      },
    );
    sending.on("error", reject).end(json === undefined ? undefined : JSON.stringify(json));
  });
}
