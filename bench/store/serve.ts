import { createServer } from '../../src/server/index.ts'

/** The server as a process of its own, so that its memory is its own: tells its parent where it is. */
const dataDir = process.argv[2] ?? ''
const server = await createServer({ dataDir, httpPort: 0, logLevel: 'warn', minFreeSpace: 0 })
process.send?.({ url: server.url, adminKey: server.adminKey.key })
process.on('message', async () => {
  await server.close()
  process.exit(0)
})
