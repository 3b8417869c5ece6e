import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'
import { createToken } from '../../src/core/token.ts'
import { hostOptions, thingsHttp } from '../../src/http/index.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createThings, type Things } from '../../src/things.ts'
import type { ServerAddress } from '../helpers/http-client.ts'

/** The service on a disk, with the HTTP API on a socket: what every door is tried on and read back through. */
export interface Service extends ServerAddress {
  readonly things: Things
  close(): Promise<void>
}

export async function startService(): Promise<Service> {
  const location = await mkdtemp(join(tmpdir(), 'thingwire-doors-'))
  const adminKey = createToken()
  const things = await createThings({ store: createLevelStore({ location }), adminKey })
  const app = fastify(hostOptions)
  await app.register(thingsHttp, { things })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    adminKey,
    things,
    close: async () => {
      await app.close()
      await things.close()
      await rm(location, { recursive: true, force: true })
    },
  }
}
