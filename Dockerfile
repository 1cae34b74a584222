# One image for every process; the command selects it. Pin a digest with NODE_IMAGE.
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
COPY web ./web
COPY scripts ./scripts
COPY docs/examples ./docs/examples
RUN node scripts/build.mjs && node scripts/pages.mjs
# What runs, at the versions of the lock file: what every installation has, the key services' clients, and the
# embedded database.
WORKDIR /packages
COPY package.json package-lock.json .npmrc ./
RUN node -e "const p = require('./package.json'); for (const name in p.peerDependencies) if (name !== 'viem') p.dependencies[name] = p.devDependencies[name]; delete p.devDependencies; delete p.peerDependencies; delete p.peerDependenciesMeta; require('fs').writeFileSync('package.json', JSON.stringify(p))" \
 && npm install --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /packages/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config ./config
COPY contracts/artifacts ./contracts/artifacts
COPY ops ./ops
# Mount keys read-only at /app/secrets (mode 0600, owned by this user; else FIRMQUOTE__SECRETS__MOUNTED=true). ./data holds an embedded database, if used.
RUN install -d -o node -g node /app/data
USER node
VOLUME /app/data
STOPSIGNAL SIGTERM
# `ops.port` of the configuration that the command names.
ENV OPS_PORT=9100
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.OPS_PORT+'/healthz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/apps/cli/main.js"]
CMD ["--help"]
