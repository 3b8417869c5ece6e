import { beforeAll, describe, it } from 'vitest'
import { ask, type Session, type Thing } from '../../helpers/http-client.ts'
import { nodesOfTests, serverOfTests } from '../../helpers/of-test.ts'
import { everything } from '../../mqtt/relay/house.ts'
import { clientDrivers } from '../client-drivers.ts'
import { duties } from './duties.ts'
import { type House, Stage } from './stage.ts'

/** Every duty of a broker for other topics, with every client, on every store. */

const setup = { environment: { THINGWIRE_TOPICS: 'house/#', THINGWIRE_DRAIN_TIMEOUT: '60000' } }
const alone = serverOfTests(setup)
const nodes = nodesOfTests(2, setup)

const stores = [
  { name: 'the embedded store', servers: () => ({ here: alone(), there: alone() }) },
  { name: 'Redis with two processes', servers: () => ({ here: nodes.node(0), there: nodes.node(1) }) },
]

const table = duties.map(({ name, run }, place) => [name, run, place] as const)

describe.each(stores)('on $name', ({ servers }) => {
  let house: House

  beforeAll(async () => {
    const { here, there } = servers()
    const thing = await ask<Thing>(here, 'POST', '/v2/admin/things', { topics: everything })
    const body = { things: [], access: 'read', topics: everything }
    const session = await ask<Session>(here, 'POST', '/v2/admin/sessions', body)
    house = { here, there, token: thing.thingToken, password: session.sessionToken }
  })

  describe.each(clientDrivers)('$name', client => {
    it.each(table)('%s', async (_name, run, place) => {
      await run(new Stage(client, house, `house/${client.name}/${place}`))
    })
  })
})
