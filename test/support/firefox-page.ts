import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { missing, programPath } from "./programs.js";
import { temporaryFolder } from "./temporary-folder.js";

// Playwright drives only a Firefox of its own. Every other one speaks Marionette over TCP: JSON lists, each after its number
// of bytes and a colon. A command is `[0, id, name, parameters]`, its response `[1, id, error, result]`.

export const noFirefox = missing("firefox");

/** A window of Firefox with an empty profile. */
export interface FirefoxPage {
  readonly goto: (url: string) => Promise<void>;
  /** Runs the body of a function in the page, and returns its result as JSON keeps it. */
  readonly run: <Result>(body: string) => Promise<Result>;
}

/** Opens a window of this size until the test is over. */
export async function takeFirefoxPage(width: number, height: number): Promise<FirefoxPage> {
  // Any port that is free: Firefox writes it into the profile.
  const profile = temporaryFolder({ "user.js": 'user_pref("marionette.port", 0);\n' });
  const size = [`--width=${width}`, `--height=${height}`];
  const argv = ["--headless", "--no-remote", "--marionette", "--profile", profile, ...size];
  const env = { ...process.env, HOME: profile };
  const browser = spawn(programPath("firefox"), argv, { stdio: "ignore", env });
  const exited = once(browser, "exit");
  onTestFinished(async () => {
    browser.kill("SIGTERM");
    await exited;
  });

  const send = commandsOf(connect(await portIn(profile), "127.0.0.1"));
  await send("WebDriver:NewSession", {});
  return {
    async goto(url) {
      await send("WebDriver:Navigate", { url });
    },
    async run<Result>(body: string) {
      const result = await send("WebDriver:ExecuteScript", { script: body, args: [] });
      return (result as { value: Result }).value; // its caller knows the script
    },
  };
}

/** The port that Firefox has written into its profile: once it is complete, Firefox listens. */
async function portIn(profile: string): Promise<number> {
  const read = () => readFile(join(profile, "MarionetteActivePort"), "utf8").catch(() => "");
  await expect.poll(read, { interval: 100 }).toMatch(/^\d+$/);
  return Number(await read());
}

/** Sends one command at a time. A failure of one is an error with what Firefox reports. */
function commandsOf(socket: Socket) {
  const messages = messagesOf(socket);
  let lastId = 0;
  return async (name: string, parameters: object): Promise<unknown> => {
    // The first message is a greeting.
    if (lastId === 0) await messages.next();
    lastId += 1;
    const text = JSON.stringify([0, lastId, name, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    const { value } = await messages.next();
    const [, , error, result] = value as [number, number, object | null, unknown];
    if (error !== null) throw new Error(`Firefox rejects ${name}: ${JSON.stringify(error)}`);
    return result;
  };
}

async function* messagesOf(socket: Socket): AsyncGenerator<unknown> {
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    for (;;) {
      const start = received.indexOf(":") + 1;
      const end = start + Number(received.subarray(0, start - 1));
      if (start === 0 || received.length < end) break;
      yield JSON.parse(String(received.subarray(start, end)));
      received = received.subarray(end);
    }
  }
}
