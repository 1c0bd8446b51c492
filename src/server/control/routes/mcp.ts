import { anything, record } from "../../../spec/schema/shape.js";
import { controlRoute, type Route } from "../route.js";

/** The route of the Model Context Protocol, whose tools call these routes. */
export const mcpRoute = (routes: () => readonly Route[]) =>
  controlRoute("POST /mcp", {
    summary: "The Model Context Protocol over HTTP, without a session: one message, one response",
    body: "mcp_message",
    response: record(anything()),
    isBare: true,
    isLocal: true,
    isReading: true,
    isRaw: true,
    async run({ baseUrl }, local) {
      // Loaded when needed: most servers have no agents.
      const { respondToMcp } = await import("../mcp.js");
      await respondToMcp(local, baseUrl(), routes());
    },
  });
