import { runProgram } from "./run-program.js";
import shortForms from "./short-forms.json" with { type: "json" };
import { createTally } from "./tally.js";

// Runs each `npm run` script that takes minutes in its short form, so that none breaks without notice. `short-forms.json` has the
// arguments of these, and for each other script what runs it. Words choose some by name.

const tally = createTally("short-forms");
const chosen = process.argv.slice(2);
for (const [name, argv] of Object.entries(shortForms)) {
  if (typeof argv === "string" || (chosen.length > 0 && !chosen.includes(name))) continue;
  const { code, output } = await runProgram("npm", ["run", "--silent", name, "--", ...argv], {
    timeout: 600_000,
  });
  tally.count(["npm run", name, "--", ...argv].join(" "), code === 0 ? undefined : output);
}
