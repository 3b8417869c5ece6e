import { defineConfig } from 'vite'
import { packCoastlines } from './pack-coastlines.ts'
import { precompress } from './precompress.ts'

const running = process.env.THINGWIRE_URL ?? 'http://127.0.0.1:8080'

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Behind a proxy the page may be under any prefix.
  base: './',
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The page carries the code of its dependencies; their licences ask to go with it.
    license: { fileName: 'licenses.md' },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  plugins: [packCoastlines(), precompress()],
  // `THINGWIRE_URL=http://127.0.0.1:8080 npx vite web`: the page from here, everything else from a running server.
  server: {
    proxy: {
      ...Object.fromEntries(
        ['/v2', '/docs', '/metrics', '/dashboard.json'].map(path => [path, { target: running }]),
      ),
      '/mqtt': { target: running, ws: true },
    },
  },
})
