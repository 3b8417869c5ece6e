import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'
import fastify from 'fastify'
import type { Commit } from '../../src/core/ports.ts'
import { createToken } from '../../src/core/token.ts'
import { hostOptions, thingsHttp } from '../../src/http/index.ts'
import { attachThings } from '../../src/mqtt/index.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings, type ThingsParts } from '../../src/things.ts'
import type { Service } from '../doors/service.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

export interface MagicService extends Service {
  readonly things: ThingsParts
  /** Every commit of the thing so far. */
  commitsOf(thingId: string): readonly Commit[]
}

/** Both doors on sockets of this process, so that a test sees the commits behind them. */
export async function startMagicService(): Promise<MagicService> {
  const adminKey = createToken()
  const ended: (() => Promise<void>)[] = []
  const location = await temporaryDirectory(remove => ended.push(remove))
  const things = await openThings({
    store: createLevelStore({ location, durability: 'written' }),
    adminKey,
  })
  const commits = new Map<string, Commit[]>()
  things.records.onCommit(commit => {
    const ofThing = commits.get(commit.thingId)
    if (ofThing) ofThing.push(commit)
    else commits.set(commit.thingId, [commit])
  })
  const app = fastify({ ...hostOptions })
  await app.register(thingsHttp, { things })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const broker = await Aedes.createBroker()
  const detach = attachThings(broker, things)
  const mqtt = createServer(broker.handle).listen(0, '127.0.0.1')
  await once(mqtt, 'listening')
  return {
    url,
    mqttUrl: `mqtt://127.0.0.1:${(mqtt.address() as AddressInfo).port}`,
    webSocketUrl: '',
    adminKey,
    things,
    commitsOf: thingId => commits.get(thingId) ?? [],
    close: async () => {
      mqtt.close()
      await app.close()
      await detach()
      await new Promise<void>(resolve => broker.close(() => resolve()))
      await things.close()
      for (const end of ended) await end()
    },
  }
}
