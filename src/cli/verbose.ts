/** Whether `--verbose` was asked for; works before the command line is understood, since that may be what fails. */
export function isVerbose(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const set = env.SVC_SANDBOX_VERBOSE?.toLowerCase() ?? "";
  // Behind `--` stands the command line of another program.
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  return own.includes("--verbose") || !["", "0", "false", "no", "off"].includes(set);
}
