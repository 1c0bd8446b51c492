import { createSandbox } from "../src/index.js";
import { scenarioWith } from "./support/faulty.js";
const sandbox = createSandbox({ scenario: scenarioWith([{ then: { hang: true } }]) });
const url = "https://any.example/v1/relying-party/me";
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));
async function attempt(make: (signal: AbortSignal) => Promise<Response>) {
  const abort = new AbortController();
  let state = "pending";
  (() => { make(abort.signal).then(() => { state = "resolved"; }, (e) => { state = `rejected ${e.message}`; }); })();
  for (let i = 0; i < 5; i++) { globalThis.gc?.(); await pause(10); }
  abort.abort(new Error("enough"));
  await pause(20);
  return state;
}
console.log("init", await attempt((signal) => sandbox.fetch(url, { signal })));
console.log("request", await attempt((signal) => sandbox.fetch(new Request(url, { signal }))));
const timeouts = await Promise.all(Array.from({length: 50}, () => sandbox.fetch(new Request(url, { signal: AbortSignal.timeout(60) })).catch((e) => e.name)));
console.log(new Set(timeouts));
