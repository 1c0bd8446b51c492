// How a number in a text of a body reaches a client: by exact decimals, without floating point.

/** The value of a decimal number, times 10^1000. */
export function scaled(text: string): bigint {
  const [, sign, whole = "", fraction = "", exponent = 0] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  return (
    BigInt(`${sign === "-" ? "-" : ""}0${whole}${fraction}`) *
    10n ** BigInt(1000 - fraction.length + Number(exponent))
  );
}

/** Whether JSON sends the value that is written, and no zeros in front of it are lost. */
export function isSentAsWritten(text: string): boolean {
  const shortest = JSON.stringify(Number(text));
  const [first, second = ""] = text.replace(/^[+-]/, "");
  const isPadded = first === "0" && second >= "0" && second <= "9";
  return shortest !== "null" && !isPadded && scaled(shortest) === scaled(text);
}
