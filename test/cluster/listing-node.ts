import { parseArgs } from 'node:util'
import type { MagicResource } from '../../src/magic/magic-resource.ts'
import { chooseStore } from '../../src/server/choose-store.ts'
import { openHttpDoor } from '../../src/server/http-door.ts'
import { urlOf } from '../../src/server/listening.ts'
import { loadOptions } from '../../src/server/load-options.ts'
import { createLogger } from '../../src/server/log.ts'
import { openMqttDoor } from '../../src/server/mqtt-door.ts'
import { flagName, optionNames } from '../../src/server/options.ts'
import { webSocketPath } from '../../src/server/websocket.ts'
import { createThings } from '../../src/things.ts'

/** Lists what is applied, so that what is applied twice, out of turn or not at all is seen. */
const list: MagicResource = {
  key: '$list',
  check: ({ value }) => ({ value }),
  apply: (state, { value, datetime }) => ({
    value: [...((state?.value as readonly unknown[] | undefined) ?? []), value],
    datetime,
  }),
}

/** The server's parts put together by a host that brings a magic resource of its own. */
const flags = Object.fromEntries(optionNames.map(name => [flagName(name), { type: 'string' }] as const))
const { values } = parseArgs({ options: flags, allowPositionals: true })
const options = await loadOptions(values as Record<string, string>, process.env)
const log = createLogger(options.logLevel)
const stopping = new AbortController()
const { store, adminKey } = await chooseStore(options, log)
const things = await createThings({
  store,
  adminKey: adminKey.key,
  storeTimeout: options.storeTimeout,
  limits: options,
  magicResources: [list],
})
const mqtt = await openMqttDoor(things, options, log, stopping.signal)
const http = await openHttpDoor(things, mqtt, options, log, stopping.signal)
console.log(`MQTT at ${mqtt.url}, over WebSocket at ${urlOf('ws', http.address)}${webSocketPath}`)
console.log(`Thingwire is ready at ${http.url}`)
