/**
 * What the command line says with its lines whole again, wherever the width has broken them: a line goes on in the next
 * one if that one's first word did not fit, and after a colon with a command. Indented lines are those of tables.
 */
export function unwrapped(text: string, columns = 80): string {
  const [first = "", ...others] = text.split("\n");
  const whole = [first];
  let last = first;
  for (const line of others) {
    const [word = ""] = line.split(" ", 1);
    const didNotFit = word !== "" && !last.startsWith(" ") && last.length + 1 + word.length > columns;
    const isCommand = last.endsWith(":") && /^ +(?:npx|svc-sandbox) /.test(line);
    if ((last.length <= columns && didNotFit) || isCommand) whole.push(`${whole.pop()} ${line.trimStart()}`);
    else whole.push(line);
    last = line;
  }
  return whole.join("\n");
}
