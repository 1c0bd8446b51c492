import { script } from "@bomb.sh/tab";
import { quote } from "../../spec/schema/words.js";
import { declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { writeData } from "../tell.js";

const shells = ["bash", "zsh", "fish", "powershell"];

// The library's script requires the package bash-completion, and never completes files.
const bashScript = `# bash completion for svc-sandbox
_svc_sandbox() {
  local IFS=$'\\n' line
  COMPREPLY=()
  for line in $(svc-sandbox completion complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    [[ $line == :* ]] || COMPREPLY+=("\${line%%$'\\t'*}")
  done
}
complete -o default -F _svc_sandbox svc-sandbox
`;

export const command = declareCommand({
  summary: "print a script that completes commands, flags, scenarios and keys in a shell",
  description:
    "Prints the completion script of a shell, which calls svc-sandbox from the PATH. The script runs completion complete -- <word...>, which prints the completions of the last word.",
  words: { "<shell>": "bash, zsh, fish or powershell" },
  choices: shells,
  flags: {},
  examples: {
    'eval "$(svc-sandbox completion bash)"': "in ~/.bashrc",
    "source <(svc-sandbox completion zsh)": "in ~/.zshrc, after compinit",
    "svc-sandbox completion fish | source": "in ~/.config/fish/config.fish",
    "svc-sandbox completion powershell | Out-String | Invoke-Expression": "in $PROFILE",
  },
  async run({ words: [shell = ""], io }) {
    if (shell === "bash") writeData(io.stdout, bashScript);
    // The library prints the script.
    else if (shells.includes(shell)) script(shell, "svc-sandbox", "svc-sandbox completion");
    else throw usageError(`${quote(shell)} is not a known shell. Use bash, zsh, fish or powershell.`);
    return exitCode.fine;
  },
});
