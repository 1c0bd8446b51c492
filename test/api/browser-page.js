// Runs in a page: the built package, msw's service worker, and the browser's own fetch.
import { setupWorker } from "msw/browser";
import { createSandbox } from "svc-sandbox";
import "svc-sandbox/farmers";
import { createHandlers } from "svc-sandbox/msw";
import { sendWithFetch } from "../support/send.ts";
import { comparable, runSteps } from "./conformance-script.ts";

const worker = setupWorker();
await worker.start({ quiet: true, onUnhandledRequest: "error" });

// Another origin than the page's, as in a partner's application.
const baseUrl = "https://api.example";

globalThis.runCase = async ({ scenario, steps }) => {
  const sandbox = createSandbox({ scenario, frozen: true });
  worker.resetHandlers(...createHandlers(sandbox, { baseUrl }));
  const send = sendWithFetch((url, init) => fetch(url, init), baseUrl);
  return (await runSteps(sandbox, send, steps)).map(comparable);
};

globalThis.ready = true;
