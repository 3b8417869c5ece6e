FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# LevelDB and the bundler come compiled: none of their scripts is needed.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY tools/build ./tools/build
COPY src ./src
COPY web ./web
COPY examples/voyage ./examples/voyage
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production \
    THINGWIRE_HOST=0.0.0.0 \
    THINGWIRE_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
# The command is bundled: the modules and types of the package are for hosts.
COPY --from=build /app/dist/cli ./dist/cli
COPY --from=build /app/dist/web ./dist/web
COPY config ./config
COPY LICENSE NOTICE ./
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080 1883 8443 8883
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.THINGWIRE_HTTP_PORT || 8080}/readyz`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENV MALLOC_ARENA_MAX=2
ENTRYPOINT ["node", "--heap-growing-percent=70", "--max-semi-space-size=16", "--no-allocation-site-pretenuring", "dist/cli/main.js"]
CMD ["start"]
