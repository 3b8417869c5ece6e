import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'
import { host } from './peer.ts'

/** Aedes as it comes: in-memory persistence, no hooks. Prints its port. */

const broker = await Aedes.createBroker()
const server = createServer(broker.handle)
server.listen(0, host)
await once(server, 'listening')
console.log((server.address() as AddressInfo).port)
