import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** How many bytes of a body are read at most; an answer of the API has some hundred. */
export const maximumBody = 64 * 1024;

const decoders: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * A body without its content encoding; as it is when it has none, an unknown one, or a broken one.
 *
 * Answers `undefined` for a body that is longer than {@link maximumBody} without it.
 */
export function decodedBody(body: Buffer, encoding: string | undefined): Buffer | undefined {
  const decode = decoders[encoding?.trim().toLowerCase() ?? ""];
  if (decode === undefined) return body;
  try {
    return decode(body, { maxOutputLength: maximumBody });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? undefined : body;
  }
}
