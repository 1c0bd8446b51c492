// Which endpoint a request reaches: by the decoded text of each segment, since clients differ in what they encode.

const isParameter = (segment: string) => segment.startsWith("{");

/** Whether a request's path is one of an endpoint of a scenario. */
export function isPathOf(endpoint: string, path: string): boolean {
  const written = endpoint.split("/");
  const sent = path.split("/");
  return (
    written.length === sent.length &&
    written.every((segment, at) => {
      const text = decodeURIComponent(sent[at] ?? "");
      return isParameter(segment) ? !["", ".", ".."].includes(text) : decodeURIComponent(segment) === text;
    })
  );
}

/** The endpoints whose path is the most exact one for a request's path. */
export function mostExact<Written extends { readonly path: string }>(
  written: readonly Written[],
  path: string,
): Written[] {
  let left = written.filter((endpoint) => isPathOf(endpoint.path, path));
  for (const at of path.split("/").keys()) {
    const exact = left.filter((endpoint) => !isParameter(endpoint.path.split("/")[at] ?? ""));
    if (exact.length > 0) left = exact;
  }
  return left;
}

/** A path with some of its characters encoded: as all clients send it, each in its own way. */
export function respelled(path: string, isEncoded: (index: number) => boolean): string {
  return path.replace(/%..|[^/]/g, (text, index: number) => {
    if (text.length > 1) return isEncoded(index) ? text.toLowerCase() : text.toUpperCase();
    return isEncoded(index) ? `%${text.charCodeAt(0).toString(16)}` : text;
  });
}
