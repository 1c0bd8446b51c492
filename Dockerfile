# docker build -t svc-sandbox .
#
# Any image with Node 20.19 or later, npm and tar will do, from a registry of your own as well:
# docker build -t svc-sandbox --build-arg NODE_IMAGE=registry.example/node:24-slim .
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund --prefer-offline
COPY . .
# What would be published, and nothing else; npm builds it first.
RUN npm pack --silent \
  && mkdir /app \
  && tar -xzf svc-sandbox-*.tgz --no-same-owner --strip-components=1 -C /app

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="svc-sandbox" \
  org.opencontainers.image.description="A faithful offline sandbox of the relying-party API" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.documentation="/app/docs/host.md"
COPY --from=build /app /app
ENV NODE_ENV=production SVC_SANDBOX_HOST=0.0.0.0 SVC_SANDBOX_SHOW_KEYS=0
# A svc-sandbox.yaml that is mounted here is served; without one, key-states.
WORKDIR /sandbox
# A volume that is mounted here belongs to the user below.
RUN ["node", "-e", "fs.mkdirSync('/state', 0o700); fs.chownSync('/state', 1000, 1000)"]
# A number, which Kubernetes can tell from root. The files belong to root, so that it can change none of them.
USER 1000:1000
EXPOSE 4747
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["node", "-e", "const { SVC_SANDBOX_PORT, PORT } = process.env; const port = SVC_SANDBOX_PORT || PORT || 4747; fetch(`http://127.0.0.1:${port}/__sandbox/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/svc-sandbox.js"]
CMD ["start"]
