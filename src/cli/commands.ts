import type { CliCommand } from "./command.js";

/** The commands by their names, in the order of the help. Each is loaded when it is called: loading all takes long. */
export const commands: Readonly<Record<string, () => Promise<CliCommand>>> = {
  start: async () => (await import("./commands/start.js")).startCommand,
  exec: async () => (await import("./commands/exec.js")).execCommand,
  certify: async () => (await import("./commands/certify.js")).certifyCommand,
  list: async () => (await import("./commands/shipped.js")).listCommand,
  show: async () => (await import("./commands/shipped.js")).showCommand,
  init: async () => (await import("./commands/init.js")).initCommand,
  validate: async () => (await import("./commands/validate.js")).validateCommand,
  keys: async () => (await import("./commands/keys.js")).keysCommand,
  verify: async () => (await import("./commands/verify.js")).verifyCommand,
  play: async () => (await import("./commands/play.js")).playCommand,
  fixtures: async () => (await import("./commands/fixtures.js")).fixturesCommand,
  explain: async () => (await import("./commands/explain.js")).explainCommand,
  compare: async () => (await import("./commands/compare.js")).compareCommand,
  report: async () => (await import("./commands/report.js")).reportCommand,
  stop: async () => (await import("./commands/stop.js")).stopCommand,
  openapi: async () => (await import("./commands/shipped.js")).openapiCommand,
  schema: async () => (await import("./commands/shipped.js")).schemaCommand,
};

export function loadCommand(name: string): Promise<CliCommand> {
  return commands[name]?.() as Promise<CliCommand>; // callers have a name of the table
}
