import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import { SandboxError } from "../../domain/errors.js";

/** The maximum length of a body. */
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
  return [requireType(takesYaml), json, ...(takesYaml ? [yaml] : []), settleBody(takesYaml)];
}

/** Whether the body was sent as YAML. A JSON body may be a text as well, and is no scenario for that. */
export function isYaml(request: Request): boolean {
  return yamlTypes.includes(typeOf(request));
}

function typeOf(request: Request): string {
  return (request.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function hasBody(request: Request): boolean {
  return request.get("transfer-encoding") !== undefined || Number(request.get("content-length") ?? 0) > 0;
}

function requireType(takesYaml: boolean): RequestHandler {
  return (request, _response, next) => {
    const type = typeOf(request);
    const isTaken = type === "application/json" || (takesYaml && isYaml(request));
    if (isTaken || (type === "" && !hasBody(request))) return next();
    throw wrongType(takesYaml);
  };
}

function settleBody(takesYaml: boolean) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (request.body === undefined) {
      // A type with broken parameters is no reason to take what was sent for nothing.
      if (hasBody(request)) throw wrongType(takesYaml);
      request.body = isYaml(request) ? "" : {};
    }
    next();
  };
}

function wrongType(takesYaml: boolean): SandboxError {
  return new SandboxError(
    "unsupported_media_type",
    `The body must be application/json${takesYaml ? " or application/yaml" : ""}; send it with that Content-Type.`,
  );
}
