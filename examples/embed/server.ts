import fastify from 'fastify'
import { createLevelStore, createThings } from 'thingwire'
import { hostOptions, thingsHttp } from 'thingwire/http'
import { thingsPage } from 'thingwire/page'

const { ADMIN_KEY: adminKey = '', PORT: port = '8080', DATA_DIR: dataDir = './data' } = process.env
const things = await createThings({ store: createLevelStore({ location: `${dataDir}/store` }), adminKey })
things.on('reading', ({ key, value, datetime }) => console.log(key, 'is', value, 'at', datetime.toJSON()))

const [pump = await things.registry.create({ name: 'pump' })] = await things.registry.named('pump')
await things.write(pump.thingId, [{ key: 'pressure_bar', value: 2.4, geo: { lat: 59.9, long: 23.4 } }])
const app = fastify({ ...hostOptions })
app.get('/pressures', async () => await things.read(pump.thingId, 'pressure_bar', { last: 10 }))
await app.register(thingsHttp, { things })
await app.register(thingsPage, { things })
const url = await app.listen({ port: Number(port), host: '127.0.0.1' })
const { sessionToken } = await things.sessions.create('*', { access: 'read' })
console.log(`The page is at ${url}/#session=${sessionToken}`)
process.once('SIGTERM', () => app.close().then(things.close))
