import { SandboxError, type SandboxErrorCode } from "../spec/errors.js";
import { parsedJson } from "../spec/json.js";

const { MessageChannel, receiveMessageOnPort, Worker } = process.getBuiltinModule("node:worker_threads");

const longestWait = 30_000;

// A separate thread also protects these calls from a test's msw, undici and fake timers.
const caller = `
const { parentPort } = require("node:worker_threads");
parentPort.on("message", async ({ url, options, port, done }) => {
  const reply = await fetch(url, options).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (error) => ({ failure: (error.cause ?? error).message }),
  );
  port.postMessage(reply);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
});`;

type Reply = { readonly status: number; readonly text: string } | { readonly failure: string };

/** Starts a thread for calls, which ends with the process. */
export function startCalls(token: string | undefined) {
  const worker = new Worker(caller, { eval: true, execArgv: [] });
  worker.unref();
  return {
    /** Returns the response's text. Throws its `SandboxError`, or `usage` without a response. */
    call(method: string, url: string, body?: unknown, actor?: string): string {
      const headers = {
        "content-type": "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(actor !== undefined && { "x-sandbox-actor": actor }),
      };
      const options = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const done = new Int32Array(new SharedArrayBuffer(4));
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ url, options, port: port2, done }, [port2]);
      Atomics.wait(done, 0, 0, longestWait);
      const reply = receiveMessageOnPort(port1)?.message as Reply | undefined;
      port1.close();
      if (reply === undefined || "failure" in reply) {
        const why = reply?.failure ?? `no response within ${longestWait / 1000} s`;
        throw new SandboxError("usage", `Failed to call the sandbox of SVC_CONTROL_URL: ${why}.`);
      }
      if (reply.status < 400) return reply.text;
      const { error } = (parsedJson(reply.text) ?? {}) as { error?: SandboxError };
      const { code = "usage", message = `Failed to call the sandbox: it returned ${reply.status}.` } =
        error ?? {};
      throw new SandboxError(code as SandboxErrorCode, message, error?.details);
    },
    end: () => worker.terminate(),
  };
}
