export type { ServerOptions } from './options.ts'
export { createServer, type Server, type ServerParts } from './server.ts'
