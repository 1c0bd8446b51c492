import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import { SandboxError } from "../../domain/sandbox-error.js";

/** How long a body may be. */
const longestBody = 1024 * 1024;

const json = express.json({ limit: longestBody, strict: false, type: "application/json" });
const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];
const yaml = express.text({ limit: longestBody, type: yamlTypes });

/**
 * Reads the body of a write: JSON, or YAML where that is taken; nothing at all is an empty object.
 *
 * A page of another origin can send forms and plain text without asking, so no other type is taken: 415.
 */
export function readBody({ takesYaml }: { takesYaml: boolean }): RequestHandler[] {
  return [requireType(takesYaml), json, ...(takesYaml ? [yaml] : []), emptyAsObject];
}

function requireType(takesYaml: boolean): RequestHandler {
  return (request, _response, next) => {
    const type = (request.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
    const hasBody =
      request.get("transfer-encoding") !== undefined || Number(request.get("content-length") ?? 0) > 0;
    if (type === "application/json" || (type === "" && !hasBody) || (takesYaml && yamlTypes.includes(type)))
      return next();
    throw new SandboxError(
      "unsupported_media_type",
      `The body must be application/json${takesYaml ? " or application/yaml" : ""}; send it with that Content-Type.`,
    );
  };
}

function emptyAsObject(request: Request, _response: Response, next: NextFunction): void {
  request.body ??= {};
  next();
}
