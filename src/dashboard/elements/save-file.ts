/** Saves content as a browser download. The file name keeps only characters that every system accepts. */
export function saveFile(content: Blob, name: string, extension: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replace(/[^\w.-]+/g, "-").slice(0, 100)}.${extension}`;
  link.click();
  URL.revokeObjectURL(url);
}
