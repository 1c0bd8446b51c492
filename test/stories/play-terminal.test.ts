import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";
import { longStory } from "./stories.js";

// `script` gives a command a terminal of its own.
describe.skipIf(process.platform !== "linux" || !existsSync("/usr/bin/script"))(
  "svc-sandbox play on a real terminal",
  () => {
    function onTerminal(command: string, story: string) {
      const bin = join(import.meta.dirname, "../../bin/svc-sandbox.js");
      const cwd = temporaryFolder({ "a.yaml": story });
      // Ctrl-C reaches the shell as well, and only some of them go on after it (bash does, dash does not) without a trap.
      const line = `trap : INT; ${process.execPath} ${bin} play a.yaml ${command}; echo "code $?"; stty -a`;
      const child = spawn("script", ["-qec", line, "/dev/null"], {
        cwd,
        env: { ...process.env, NO_COLOR: "1", SHELL: "/bin/sh" },
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      return {
        async press(after: RegExp, keys: string) {
          while (!after.test(text)) await once(child.stdout, "data");
          child.stdin.write(keys);
        },
        async ended() {
          await once(child, "close");
          return text.replaceAll("\r\n", "\n");
        },
      };
    }

    it("steps by keys, and gives the terminal back as it was", async () => {
      const { press, ended } = onTerminal("--step", longStory);
      await press(/A bank[\s\S]*care/, "\r");
      await press(/200\.test/, " ");
      await press(/works for 60 more/, "\u001b[A");
      await press(/cannot go back/, "q");
      const text = await ended();
      expect(text).toMatch(/\ncode 0\n/);
      expect(text).toMatch(/[^-]icanon/);
      expect(text).toMatch(/[^-]echo /);
    });

    it.each(["", "--step"])("ends with Ctrl-C: play %s", async (flags) => {
      const { press, ended } = onTerminal(flags, longStory);
      await press(/A bank[\s\S]*care/, "\u0003");
      const text = await ended();
      expect(text).toMatch(/\ncode 0\n/);
      expect(text).toMatch(/[^-]icanon/);
    });
  },
);
