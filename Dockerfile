# The exporter's image: `docker build -t gameserver-exporter .`
ARG NODE_IMAGE=docker.io/library/node:26.10.0-trixie-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33

# The output is the same on every platform, so this stage runs on the build platform.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts/build scripts/build
COPY scripts/write-revision.mjs scripts/
COPY src src
# The build context has no .git, so the commit must be passed in.
ARG REVISION=
RUN GAMESERVER_EXPORTER_REVISION="$REVISION" npm run build && chmod 755 dist/cli.js

FROM ${NODE_IMAGE}
ARG VERSION=
ARG REVISION=
ARG CREATED=
ARG SOURCE=
LABEL org.opencontainers.image.title="gameserver-exporter" \
      org.opencontainers.image.description="Pterodactyl and Pelican exporter for Prometheus" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.source="$SOURCE"
ENV NODE_ENV=production
# Node.js resolves names in half of these threads, and a name server that doesn't respond keeps one for each panel busy.
ENV UV_THREADPOOL_SIZE=16
WORKDIR /opt/gameserver-exporter
COPY LICENSE package.json config.example.yaml config.schema.json ./
COPY docs docs
COPY scripts/healthcheck.mjs ./
COPY --from=build /build/dist dist
# So that `docker exec NAME gameserver-exporter doctor` works, and messages name the program as the docs do.
RUN ln -s /opt/gameserver-exporter/dist/cli.js /usr/local/bin/gameserver-exporter
# For --storage.path, with or without a volume. A new volume gets the mode, so that any user can write there.
RUN mkdir --mode=1777 /var/lib/gameserver-exporter
# Relative paths are resolved here: config.yaml, which `serve` and `check` read by default, and `init` writes.
WORKDIR /etc/gameserver-exporter
# Numeric, so that Kubernetes can verify that it isn't root. Any other user works too.
USER 65532:65532
EXPOSE 10317
# The program handles the signal even as process 1, and starts no child processes that it would have to reap.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "/opt/gameserver-exporter/healthcheck.mjs"]
# Prevents signals from opening the inspector, through which a local process could read the API key, even while Node.js
# itself starts.
ENTRYPOINT ["node", "--disable-sigusr1", "/usr/local/bin/gameserver-exporter"]
CMD ["serve", "--storage.path=/var/lib/gameserver-exporter"]
