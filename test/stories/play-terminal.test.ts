import { describe, expect, it } from "vitest";
import { commandLine, hasTerminal, onTerminal } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { longStory } from "./stories.js";

describe.skipIf(!hasTerminal)("svc-sandbox play on a real terminal", () => {
  function play(flags: string, story: string) {
    const line = `${commandLine} play a.yaml ${flags}; echo "code $?"; stty -a`;
    const { press, ended } = onTerminal(line, temporaryFolder({ "a.yaml": story }), { NO_COLOR: "1" });
    return { press, ended: async () => (await ended).stdout.replaceAll("\r\n", "\n") };
  }

  it("steps by keys, and gives the terminal back as it was", async () => {
    const { press, ended } = play("--step", longStory);
    await press(/A bank[\s\S]*care/, "\r");
    await press(/200\.test/, " ");
    await press(/overlap 60m → active-2/, "q");
    const text = await ended();
    expect(text).toMatch(/\ncode 0\n/);
    expect(text).toMatch(/[^-]icanon/);
    expect(text).toMatch(/[^-]echo /);
  });

  it.each(["", "--step"])("ends with Ctrl-C: play %s", async (flags) => {
    const { press, ended } = play(flags, longStory);
    await press(/A bank[\s\S]*care/, "\u0003");
    const text = await ended();
    expect(text).toMatch(/\ncode 0\n/);
    expect(text).toMatch(/[^-]icanon/);
  });
});
