import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChromiumPage, noBrowser, openPage } from "../support/chromium-page.js";
import { expectUnchanged, serveControl } from "./client.js";

/** What a page of another origin tries; runs in the page. Answers what it has come to know. */
async function attack([url, secretWord]: readonly [string, string]): Promise<Record<string, string>> {
  const told: Record<string, string> = {};
  const settled = async (name: string, work: () => Promise<unknown>) => {
    told[name] = await work().then(String, (error: Error) => `refused: ${error.name}`);
  };
  const read = async (init?: RequestInit, path = "/state") => {
    const response = await fetch(url + path, init);
    return `${response.type} ${response.status} ${await response.text()}`;
  };
  const json = { "content-type": "application/json" };
  const event = (target: EventTarget, ...names: string[]) =>
    new Promise<string>((resolve) => {
      for (const name of names) target.addEventListener(name, () => resolve(name), { once: true });
    });

  await settled("get with cors", () => read());
  await settled("get without cors", () => read({ mode: "no-cors" }));
  await settled("post of text", () =>
    read({ method: "POST", mode: "no-cors", body: '{"by":"1h"}' }, "/clock/advance"),
  );
  await settled("post of nothing", () => read({ method: "POST", mode: "no-cors" }, "/reset"));
  await settled("post of json", () => read({ method: "POST", headers: json, body: "{}" }, "/reset"));
  await settled("put of json", () =>
    read({ method: "PUT", headers: json, body: '{"name":"rotation"}' }, "/scenario"),
  );
  await settled("delete", () => read({ method: "DELETE" }, "/requests"));
  await settled("beacon", async () => navigator.sendBeacon(`${url}/reset`, "x"));
  await settled("events", async () => {
    const source = new EventSource(`${url}/events`);
    const happened = await event(source, "open", "message", "error");
    source.close();
    return happened;
  });
  await settled("web socket", async () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/events`);
    return event(socket, "open", "message", "error");
  });
  for (const [name, tag, path] of [
    ["image", "img", "/state"],
    ["script", "script", "/state"],
    ["style sheet", "link", "/state"],
    ["image of the page", "img", "/"],
  ] as const) {
    await settled(name, async () => {
      const element = document.createElement(tag);
      const happened = event(element, "load", "error");
      if (tag === "link") Object.assign(element, { rel: "stylesheet", href: url + path });
      else Object.assign(element, { src: url + path });
      document.body.append(element);
      return happened;
    });
  }
  for (const [name, type] of [
    ["form", "application/x-www-form-urlencoded"],
    ["form of text", "text/plain"],
    ["form of parts", "multipart/form-data"],
  ] as const) {
    await settled(name, async () => {
      const frame = document.createElement("iframe");
      const target = url + type;
      frame.name = target;
      document.body.append(frame);
      const form = document.createElement("form");
      Object.assign(form, { method: "post", action: `${url}/clock/advance`, enctype: type, target });
      const field = document.createElement("input");
      Object.assign(field, { name: '{"by":"1h","x":"', value: '"}' });
      form.append(field);
      document.body.append(form);
      const happened = event(frame, "load");
      form.submit();
      await happened;
      return String(frame.contentDocument?.body?.textContent?.includes(secretWord) ?? "nothing to read");
    });
  }
  await settled("frame", async () => {
    const frame = document.createElement("iframe");
    frame.src = `${url}/`;
    document.body.append(frame);
    await event(frame, "load", "error");
    return String(frame.contentDocument?.body?.textContent?.includes(secretWord) ?? "nothing to read");
  });
  return told;
}

/** The statuses with which this process answered browsers below a path while something was done. */
async function statusesWhile(path: string, work: () => Promise<void>): Promise<number[]> {
  const answers: ServerResponse[] = [];
  const note = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.headers["user-agent"] !== undefined && request.url?.startsWith(path)) answers.push(response);
  };
  subscribe("http.server.request.start", note);
  await work();
  unsubscribe("http.server.request.start", note);
  return answers.map(({ statusCode }) => statusCode);
}

describe.skipIf(noBrowser)("a page in a browser", () => {
  let browser: ChromiumPage;
  beforeAll(async () => {
    browser = await openPage(join(import.meta.dirname, "attacker-page.js"));
  });
  afterAll(() => browser?.close());

  test.each([
    ["another port of this machine", "127.0.0.1"],
    ["another name of this machine", "localhost"],
  ])("of %s neither reads nor writes, whatever it tries", async (_where, from) => {
    const control = await serveControl();
    const { id } = (await control.ask("/instances", { method: "POST" })).body.data;
    const { page } = browser;
    await page.goto(page.url().replace(/127\.0\.0\.1|localhost/, from));
    for (const base of ["", `/i/${id}`]) {
      const url = `${control.server.url}${base}/__sandbox`;
      let told: Record<string, string> = {};
      const statuses = await statusesWhile(`${base}/__sandbox`, () =>
        expectUnchanged(control, async () => {
          told = await page.evaluate(attack, [url, "harvest-bank"] as const);
        }),
      );
      expect(told).toEqual({
        "get with cors": "refused: TypeError",
        "get without cors": "opaque 0 ",
        "post of text": "opaque 0 ",
        "post of nothing": "opaque 0 ",
        "post of json": "refused: TypeError",
        "put of json": "refused: TypeError",
        delete: "refused: TypeError",
        // Sent, whatever comes of it.
        beacon: "true",
        events: "error",
        "web socket": "error",
        image: "error",
        script: "error",
        "style sheet": "error",
        "image of the page": "error",
        form: "nothing to read",
        "form of text": "nothing to read",
        "form of parts": "nothing to read",
        frame: "nothing to read",
      });
      expect(statuses.length).toBeGreaterThanOrEqual(Object.keys(told).length);
      expect(new Set(statuses)).toEqual(new Set([403]));
    }
  });

  test("of the server's own origin reads and writes", async () => {
    const { server, ask } = await serveControl();
    const { page } = browser;
    await page.goto(`${server.controlUrl}/`);
    expect(await page.textContent("h1")).toBe("svc-sandbox");
    const statuses = await page.evaluate(async () => {
      const json = { "content-type": "application/json" };
      const asked = [
        await fetch("/__sandbox/state"),
        await fetch("/__sandbox/clock/advance", { method: "POST", headers: json, body: '{"by":"1h"}' }),
      ];
      const source = new EventSource("/__sandbox/events");
      const opened = await new Promise((resolve) => {
        source.onopen = () => resolve(true);
        source.onerror = () => resolve(false);
      });
      source.close();
      return [...asked.map(({ status }) => status), opened];
    });
    expect(statuses).toEqual([200, 200, true]);
    expect((await ask("/clock")).body.data.now).toBe("2026-03-02T10:00:00.000Z");
  });
});

if (noBrowser) test.skip(`the browser is left out: ${noBrowser}`);
