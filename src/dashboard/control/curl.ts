import type { ShownRequestDetails } from "./responses.js";

const word = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

type Repeated = Pick<ShownRequestDetails, "path" | "path_id" | "repeat">;

/** A line for a shell that repeats a request, given the base URL and the secret of its key, which is empty for none. */
export function curlOf({ path, path_id: pathId, repeat }: Repeated, url: string, secret: string): string {
  const { method = "GET", headers = {}, body } = repeat;
  return [
    "curl -i --globoff --path-as-is",
    // Without a timeout, curl waits forever.
    ...(pathId === "fault.hang" ? ["-m 5"] : []),
    ...(method === "GET" ? [] : [method === "HEAD" ? "--head" : `-X ${method}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${word(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${word(typeof body === "string" ? body : JSON.stringify(body))}`]),
    ...(secret === "" ? [] : [`-H "x-api-key: ${secret}"`]),
    word(url + (repeat.path ?? path)),
  ].join(" ");
}
