/** Calls a control plane, with a body as JSON. What a test reads of the response, it checks. */
export async function control(controlUrl: string | undefined, call: string, body?: object) {
  const [method, path] = call.split(" ");
  const response = await fetch(`${controlUrl}${path}`, {
    method: method as string,
    ...(method !== "GET" && { headers: { "content-type": "application/json" } }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}
