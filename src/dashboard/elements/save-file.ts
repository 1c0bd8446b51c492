/** Saves something as a file of the browser's; a name keeps the letters that every system takes. */
export function saveFile(content: Blob, name: string, ending: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replace(/[^\w.-]+/g, "-").slice(0, 100)}.${ending}`;
  link.click();
  URL.revokeObjectURL(url);
}
