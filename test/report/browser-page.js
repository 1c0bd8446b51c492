// Runs in a page: clients whose code, and key, are in a browser.
import { setupWorker } from "msw/browser";
import { createSandbox } from "../../src/index.ts";
import { createHandlers } from "../../src/integrations/msw.ts";

const baseUrl = "https://api.example";
const path = "/v1/relying-party/me";

/** Sends to a real server of another origin; what the browser keeps back is no matter. */
globalThis.callServer = async ({ url, key }) => {
  await fetch(url + path, { headers: { "x-api-key": key } }).catch(() => {});
  await fetch(`${url}${path}?key=${key}`).catch(() => {});
  await fetch(`${url}/favicon.ico`).catch(() => {});
};

/** Sends to a sandbox in the page, through msw's service worker and without it; returns the advice of each. */
globalThis.callWorker = async () => {
  const sandbox = createSandbox({ frozen: true });
  const worker = setupWorker(...createHandlers(sandbox, { baseUrl }));
  await worker.start({ quiet: true, onUnhandledRequest: "error" });
  const init = { headers: { "x-api-key": sandbox.secret("active") } };
  await fetch(baseUrl + path, init);
  await sandbox.fetch(baseUrl + path, init);
  worker.stop();
  return sandbox.requests.list().map(({ advice }) => advice);
};

globalThis.ready = true;
