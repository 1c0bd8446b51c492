import type { LoggedInstance, Logger } from "../../node/logger.js";
import { pluralize } from "../../report/plain-text.js";
import { adviceOf } from "../../rules/advice.js";
import { outcomes } from "../../rules/outcomes.js";
import { escapeCommands, escapeControls, printable, redactKeys } from "../../rules/redact.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { Store } from "../../store/store.js";
import type { Io } from "../io.js";
import { stepLogLine } from "../story/step-line.js";
import { type Palette, paintStatus, responseText, type Style } from "../terminal.js";

export interface LogFlags {
  readonly log?: "pretty" | "json" | "off";
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

// About a hundred thousand lines: a reader that stops reading must not fill the memory.
const maxWaiting = 32 * 1024 * 1024;

/** Lines are lost if they cannot be written, or if too many wait for the reader; their number is reported later. */
export async function createLog(flags: LogFlags, io: Io): Promise<Logger> {
  const { log, quiet = false, verbose = false } = flags;
  let lost = 0;
  let waiting = 0;
  const write = (text: string) => {
    if (waiting > maxWaiting) {
      lost += 1;
      return;
    }
    waiting += text.length;
    io.stderr.write(text, (error) => {
      waiting -= text.length;
      if (error) lost += 1;
      else if (lost > 0) {
        const count = pluralize(lost, "message");
        lost = 0;
        said.problem(`The log could not be written for a while: ${count} lost before the last line.`);
      }
    });
  };
  const said: Logger =
    log === "json"
      ? // Loaded when needed: most logs are read by people.
        (await import("../../node/logger.js")).createJsonLog(write)
      : textLog(write, io.stderr.style(), verbose);
  return quiet ? { ...said, note() {}, audit() {} } : said;
}

export function logEvents(
  { sandbox, instances }: Pick<Store, "sandbox" | "instances">,
  { log = "pretty", quiet = false }: LogFlags,
  logger: Logger,
): void {
  // Without a subscriber, no event is created.
  if (log === "off" || quiet) return;
  const follow = (one: SandboxState, instance?: LoggedInstance) =>
    one.history.subscribe((event) => {
      const { type } = event;
      // The other server logs its own requests.
      const isOwnRequest = type === "request" && event.isForeign !== true;
      if (type === "timeline.step" || type === "story.step" || isOwnRequest) logger.event(event, instance);
    });
  follow(sandbox);
  instances.follow(({ id, tenancy: { label }, sandbox }) => void follow(sandbox, { id, label }));
}

function textLog(write: (text: string) => void, { palette, wrap }: Style, verbose: boolean): Logger {
  const whereIs = (instance?: LoggedInstance) =>
    instance && `  ${palette.dim(`in ${escapeControls(redactKeys(instance.label ?? instance.id))}`)}`;
  const line = (text: string) => write(`${wrap(escapeCommands(redactKeys(text)).trimEnd())}\n`);
  return {
    event(event, instance) {
      const where = whereIs(instance) ?? "";
      if (event.type === "request") write(`${requestLogLine(event.exchange, palette, verbose)}${where}\n`);
      else line(stepLogLine(event, palette) + where);
    },
    note: (message) => line(printable(message)),
    warning: (message) => line(palette.yellow(printable(message))),
    audit({ action, actor, result, detail }, instance) {
      const text = `${action}  ${result}  by ${actor}${detail === undefined ? "" : `: ${detail}`}`;
      line(printable(text) + (whereIs(instance) ?? ""));
    },
    problem: (message) => line(palette.red(printable(message))),
  };
}

const responseWidth = Math.max(...outcomes.map((row) => responseText(row).length));
const pathIdWidth = Math.max(...outcomes.map(({ path }) => path.length));
const pathWidth = "/v1/relying-party/me".length;

/** The key is its ref, the fingerprint of an unknown key, or `-`. */
export function requestLogLine(exchange: Exchange, palette: Palette, verbose = false): string {
  const { at, method, path, status, pathId, fault, key, fingerprint, advice, durationMs } = exchange;
  const adviceColor = { error: palette.red, warning: palette.yellow, note: palette.dim };
  // Without fractions of a second: the lines are in order.
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  const paint = paintStatus(palette, status);
  return [
    palette.dim(time),
    escapeControls(method).padEnd(4),
    escapeControls(path).padEnd(pathWidth),
    paint(responseText(exchange).padEnd(responseWidth)),
    pathId.padEnd(pathIdWidth),
    palette.dim(`${durationMs.toFixed(1)} ms`.padStart(7)),
    key ?? fingerprint ?? "-",
    // A fault that only delays the response; any other fault is the path.
    ...(fault === null || fault === pathId ? [] : [palette.dim(fault)]),
    ...advice
      .filter((id) => verbose || adviceOf(id).level !== "note")
      .map((id) => adviceColor[adviceOf(id).level](id)),
    ...(verbose ? [palette.dim(exchange.id)] : []),
  ].join("  ");
}
