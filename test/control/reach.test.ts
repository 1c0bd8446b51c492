import { describe, expect, test } from "vitest";
import { startServer } from "../../src/server/index.js";
import { exchange } from "../support/exchange.js";
import { served } from "../support/servers.js";
import { serveControl } from "./client.js";

describe("the base URL", () => {
  test("leads browsers to the dashboard, and its 404 is the same bytes as ever for clients", async () => {
    const { server } = await serveControl({ profile: "typical", publicUrl: "https://box.example/sandbox/" });
    const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const page = await exchange(server.localUrl, { path: "/", headers });
    expect([page.status, page.headers.location]).toEqual([307, "./__sandbox/"]);
    const get = (path: string, accept: object = {}) =>
      fetch(server.localUrl + path, { headers: { ...accept } });
    const plain = '{"error":{"code":"not_found","message":"There is nothing at this path."}}';
    for (const response of [await get("/"), await get("/nothing", headers)]) {
      expect(await response.text()).toBe(plain);
    }
    const bare = await served({ control: false });
    for (const path of ["/", "/__sandbox/"]) {
      expect(await (await fetch(bare.url + path, { headers })).text()).toBe(plain);
    }
  });

  test("is the public URL, and the local one stays", async () => {
    const { server } = await serveControl({ publicUrl: "https://box.example/sandbox/" });
    const { url, localUrl, controlUrl } = server;
    expect([url, controlUrl]).toEqual(["https://box.example/sandbox", `${url}/__sandbox`]);
    expect(localUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});

describe("names in front of a loopback address", () => {
  test("are accepted if they are allowed, with pages only of these origins", async () => {
    const { ask } = await serveControl({ allowHosts: ["box.example", "other.example:8443"] });
    const outcome = async (headers: Record<string, string>) => {
      const { status, body } = await ask("/reset", { method: "POST", json: {}, headers });
      return body.error?.code ?? status;
    };
    for (const [headers, expected] of [
      [{ host: "box.example" }, 200],
      [{ host: "BOX.example:81", origin: "http://box.example:81" }, 200],
      // A proxy that sets another Host than the page has.
      [{ origin: "https://other.example:8443", "sec-fetch-site": "same-origin" }, 200],
      [{ origin: "https://other.example" }, "foreign_origin"],
      [{ origin: "https://box.example", "sec-fetch-site": "cross-site" }, "foreign_origin"],
      [{ host: "a.box.example" }, "foreign_host"],
      [{ host: "box.example.evil.example" }, "foreign_host"],
    ] as const) {
      expect([headers, await outcome(headers)]).toEqual([headers, expected]);
    }
  });

  test("a public URL may be a URL", async () => {
    const { server } = await serveControl({ publicUrl: new URL("https://box.example/sandbox/") });
    expect(server.url).toBe("https://box.example/sandbox");
  });

  test("that are none are rejected at the start", async () => {
    const rejected = ["*", "http://box.example", ""].map((name) => ({ allowHosts: [name] }));
    const urls = ["box.example", "ftp://box.example", "http://user:secret@b.example", "http://b.example/?a"];
    for (const options of [...rejected, ...urls.map((publicUrl) => ({ publicUrl }))]) {
      const error = await startServer(options).catch((thrown) => thrown);
      expect([options, error.code]).toEqual([options, "usage"]);
      expect(error.message).not.toContain("secret");
    }
  });
});
