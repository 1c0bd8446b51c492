import type { AddressInfo } from "node:net";
import { hostToConnectTo } from "../../node/addresses.js";
import { SandboxError } from "../../rules/errors.js";
import type { AnyServer } from "./connections.js";

/** Connections that wait to be accepted. One partner's burst would fill Node's 511, and others would wait for seconds. */
const waiting = 4096;

export function listenOn(
  server: AnyServer,
  port: number,
  host: string,
  program = "svc-sandbox",
): Promise<AddressInfo> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const inUse = error.code === "EADDRINUSE";
      resolve(inUse ? rejectInUse(port, host, program) : Promise.reject(unavailable(error, port, host)));
    });
    server.listen(port, host, waiting, () => resolve(server.address() as AddressInfo));
  });
}

async function rejectInUse(port: number, host: string, program: string): Promise<never> {
  // Loaded when needed: most starts find their port free.
  const { findSandbox } = await import("../../node/clients/ask-control.js");
  const sandbox = await findSandbox(`${hostToConnectTo(host)}:${port}`);
  const { url, version, scenario, startedAt } = sandbox ?? {};
  const what = scenario === undefined ? "" : `, with the scenario ${scenario} since ${startedAt}`;
  const token = scenario === undefined ? " --control-token <token>" : "";
  const [who, end] =
    sandbox === undefined
      ? ["another program", ""]
      : [`svc-sandbox ${version}${what}`, ` To stop it: ${program} stop ${url}${token}`];
  throw new SandboxError(
    "address_in_use",
    `Port ${port} on ${host} is in use by ${who}. Choose another port with --port, or any free one with --port 0.${end}`,
    { port, host, ...(sandbox && { sandbox }) },
  );
}

function unavailable(error: NodeJS.ErrnoException, port: number, host: string): SandboxError {
  const where = `port ${port} on ${host}`;
  const reason =
    error.code === "EACCES" ? "this user may not use that port" : `no such address here (${error.code})`;
  return new SandboxError(
    "address_unavailable",
    `Failed to listen on ${where}: ${reason}. Choose another with --port or --host.`,
    { port, host },
  );
}
