// A server made as json-server's README shows under "Module": middlewares, custom routes, then the router.
import { readFileSync } from "node:fs";
import jsonServer from "json-server";

const [file, port] = process.argv.slice(2);
const answers = new Map(Object.entries(JSON.parse(readFileSync(file, "utf8"))));

const server = jsonServer.create();
server.use(
  jsonServer.defaults({ logger: false, noCors: true, readOnly: true, bodyParser: false, noGzip: true }),
);
server.get("/v1/relying-party/me", (request, response) => {
  const { status, body } = answers.get(request.get("x-api-key"));
  response.status(status).jsonp(body);
});
server.use(jsonServer.router({}));
server.listen(Number(port), "127.0.0.1");
