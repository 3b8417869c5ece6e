export type { ServerOptions } from './options/options.ts'
export { createServer, type Server, type ServerParts } from './server.ts'
