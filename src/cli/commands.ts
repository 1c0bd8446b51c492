import type { Command } from "./command.js";

/**
 * Every command, in the order of the help; the first one is the default.
 *
 * A command is a file that declares itself, and a line here. Only the running command is loaded.
 */
export const commands: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
  start: () => import("./commands/start.js"),
  exec: () => import("./commands/exec.js"),
  certify: () => import("./commands/certify.js"),
  list: () => import("./commands/list.js"),
  show: () => import("./commands/show.js"),
  init: () => import("./commands/init.js"),
  validate: () => import("./commands/validate.js"),
  keys: () => import("./commands/keys.js"),
  verify: () => import("./commands/verify.js"),
  play: () => import("./commands/play.js"),
  fixtures: () => import("./commands/fixtures.js"),
  collection: () => import("./commands/collection.js"),
  explain: () => import("./commands/explain.js"),
  check: () => import("./commands/check.js"),
  report: () => import("./commands/report.js"),
  capture: () => import("./commands/capture.js"),
  export: () => import("./commands/export.js"),
  stop: () => import("./commands/stop.js"),
  completion: () => import("./commands/completion.js"),
  mcp: () => import("./commands/mcp.js"),
  openapi: () => import("./commands/openapi.js"),
  schema: () => import("./commands/schema.js"),
};
