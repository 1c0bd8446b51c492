import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * The body of a request as a web stream that reads no faster than it is read.
 *
 * What nobody has read when the answer is sent is thrown away: the next request on the connection comes behind it.
 */
export function requestBody(request: IncomingMessage, response: ServerResponse): ReadableStream<Uint8Array> {
  let over = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const settle = (how: () => void) => {
        if (!over) how();
        over = true;
      };
      request.on("data", (chunk: Buffer) => {
        if (over) return;
        controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        if ((controller.desiredSize ?? 0) <= 0) request.pause();
      });
      request.once("end", () => settle(() => controller.close()));
      request.once("error", (error) => settle(() => controller.error(error)));
      request.once("close", () => settle(() => controller.error(new Error("The client has gone."))));
      response.once("finish", () => {
        settle(() => controller.error(new Error("The request has been answered; its body is gone.")));
        request.resume();
      });
      request.pause();
    },
    pull() {
      request.resume();
    },
    cancel() {
      over = true;
      request.resume();
    },
  });
}
