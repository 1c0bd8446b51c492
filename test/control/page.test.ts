import { expect, test } from "vitest";
import { serveControl } from "./client.js";

// The files of the dashboard, as the control plane sends them.

test("the page runs only its own files, is framed by no other page, and is found with and without a slash", async () => {
  const { ask, server } = await serveControl();
  const { status, headers } = await ask("/");
  expect(status).toBe(200);
  const policy = headers["content-security-policy"] as string;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  const moved = await fetch(server.controlUrl as string, { redirect: "manual" });
  expect([moved.status, moved.headers.get("location")]).toEqual([308, "./__sandbox/"]);
});

test("the page in place of one that does not exist has no address of its own", async () => {
  const { server } = await serveControl();
  for (const page of ["not-found", "nothing"]) {
    const statusFor = async (accept: string) => {
      const response = await fetch(`${server.controlUrl}/docs/${page}`, { headers: { accept } });
      return [response.status, response.headers.get("content-type")?.split(";")[0]];
    };
    expect(await statusFor("text/html")).toEqual([404, "text/html"]);
    expect(await statusFor("application/json")).toEqual([404, "application/json"]);
  }
});

test("without JavaScript the page leads to what can be called instead", async () => {
  const { ask } = await serveControl();
  const { text } = await ask("/");
  const plain = /<noscript>([\s\S]*)<\/noscript>/.exec(text)?.[1] ?? "";
  const links = [...plain.matchAll(/href="\.([^"]+)"/g)].map(([, path]) => path as string);
  expect(links.length).toBeGreaterThan(3);
  for (const path of links) expect((await ask(path)).status, path).toBe(200);
});

test("the files of the page are compressed as a client accepts it, and kept for ever; only the page itself is not", async () => {
  const { ask, server } = await serveControl();
  const page = await ask("/");
  expect(page.headers["cache-control"]).toBe("no-store");
  const files = [...page.text.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(
    ([, one]) => one as string,
  );
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const texts = new Set<string>();
    for (const encoding of ["br", "gzip", "identity"]) {
      const headers = { "accept-encoding": encoding };
      const response = await fetch(`${server.controlUrl}/${file}`, { headers });
      texts.add(await response.text());
      const sent = encoding === "identity" ? null : encoding;
      expect([response.headers.get("content-encoding"), file, encoding]).toEqual([sent, file, encoding]);
      expect(response.headers.get("cache-control")).toBe("max-age=31536000, immutable");
      expect(response.headers.get("vary")).toContain("Accept-Encoding");
    }
    expect(texts.size, file).toBe(1);
  }
});

test("long responses are compressed for clients that accept it, except those that may have a secret", async () => {
  const { server } = await serveControl({ scenario: "key-states" });
  const ask = async (path: string, accepted: string, init?: RequestInit) => {
    const headers = { "accept-encoding": accepted, "content-type": "application/json" };
    const response = await fetch(server.controlUrl + path, { ...init, headers });
    return [response.headers.get("content-encoding"), Object.keys((await response.json()) as object)];
  };
  expect(await ask("/keys", "gzip")).toEqual(["gzip", ["data", "total", "created"]]);
  expect(await ask("/keys", "identity")).toEqual([null, ["data", "total", "created"]]);
  expect(await ask("/clock", "gzip")).toEqual([null, ["data"]]);
  const secret = await ask("/keys/active/secret", "gzip", { method: "POST", body: "{}" });
  expect(secret).toEqual([null, ["data"]]);
});
