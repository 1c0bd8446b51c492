/** Whether this program is the single executable. */
export function isExecutable(): boolean {
  return process.getBuiltinModule("node:sea")?.isSea() ?? false;
}
