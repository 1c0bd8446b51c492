// A server made as the README of @mswjs/http-middleware shows under "Option 2: Middleware".
import { readFileSync } from "node:fs";
import { createMiddleware } from "@mswjs/http-middleware";
import express from "express";
import { HttpResponse, http } from "msw";

const [file, port] = process.argv.slice(2);
const answers = new Map(Object.entries(JSON.parse(readFileSync(file, "utf8"))));

const app = express();
app.use(
  createMiddleware(
    http.get("*/v1/relying-party/me", ({ request }) => {
      const { status, body } = answers.get(request.headers.get("x-api-key"));
      return HttpResponse.json(body, { status });
    }),
  ),
);
app.listen(Number(port), "127.0.0.1");
