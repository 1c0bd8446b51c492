import { createMemoryLog } from "../../log/memory-log.js";
import { settled } from "../../sandbox/operations/operations.js";
import { routes } from "../../server/control/routes/routes.js";
import { serve } from "../../server/serve.js";
import { declareCommand, option } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { log, quiet, readPort, scenarioWord, serverFlags, worldFlags } from "../flags.js";
import { loadNamed, startNamed } from "../open-scenario.js";
import { createLog, logEvents } from "../serve/log.js";
import { serveOptions } from "../serve/serve-options.js";

export const mcpCommand = declareCommand({
  summary: "serve the sandbox to a coding agent, over the Model Context Protocol",
  description:
    "Serves a scenario on a free port, and tools for it on stdin and stdout over the Model Context Protocol: environment, explain, send, report, requests, expect, advance, rotate, revoke, expire, organization, faults, scenario, validate and reset. An agent starts it, and it ends with its stdin.",
  words: scenarioWord,
  flags: {
    port: option("-p, --port <number>", "the port to listen on (default: 0, any free port)", readPort),
    handlers: serverFlags.handlers,
    ...worldFlags,
    log: log("off"),
    quiet,
  },
  examples: {
    "svc-sandbox mcp": "as the command of an MCP server in your agent's settings",
    "svc-sandbox mcp bad-day --port 4747": "another scenario, on a fixed port",
  },
  async run({ words, flags, io }) {
    // Before stdin is read.
    const stopping = io.stopSignal();
    const served = { port: 0, log: "off", ...flags } as const;
    const runtime = startNamed(await loadNamed(words[0], io, flags), flags);
    const logger = await createLog(served, io);
    const sandboxes = createMemoryLog(runtime, {});
    logEvents(sandboxes, served, logger);
    const server = await serve(sandboxes, await serveOptions(served, io, logger));
    try {
      const { url, controlUrl = "" } = server;
      const { serveMcp } = await import("../../server/control/mcp.js");
      const world = () => settled(runtime);
      await serveMcp({ addresses: { url, controlUrl }, controlUrl, world, routes }, io, stopping);
    } finally {
      await server.close();
    }
    return exitCode.fine;
  },
});
