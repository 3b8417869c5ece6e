import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createThing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { versionNames } from '../helpers/mqtt-versions.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type Fault, Rounds } from '../rig/rounds.ts'
import { cutConnections, failedSync, failedWrites, killedInFailedSync, pauseFaults } from './faults.ts'

/** The short form of `npm run fault -- --only cuts`, `disk` and `pauses`. */

const faults: readonly (readonly [name: string, who: 'heavy' | 'steady', faults: readonly Fault[]])[] = [
  ['fsync that fails for a while', 'heavy', [failedSync()]],
  ['a kill while fsync fails', 'heavy', [killedInFailedSync]],
  ...failedWrites.map(fault => [fault.name, 'heavy', [fault]] as const),
  ['connections that are cut and back at once', 'heavy', [cutConnections(450, 20)]],
  ...pauseFaults.map(fault => [fault.name, 'steady', [fault, fault, fault]] as const),
]

test.concurrent.for(faults)(
  'what is acknowledged is stored and delivered, and nothing else, over %s',
  async ([, who, faults], { onTestFinished }) => {
    const dataDir = await temporaryDirectory(onTestFinished)
    const rounds = await Rounds.start({ dataDir, cast: [who], deadline: 30_000 })
    onTestFinished(() => rounds.end())
    for (const fault of faults) {
      const round = await rounds.run(fault)
      expect(round.violations).toEqual([])
      if ('proof' in round) expect(round.proof).toBeDefined()
    }
    for (const door of Object.values(versionNames)) expect(rounds.acksOver(door), door).toBeGreaterThan(0)
    expect(await rounds.finish()).toEqual([])
  },
)

test.concurrent('a client that has pinged during a pause of the server stays connected', async ({
  onTestFinished,
}) => {
  const server = await startServer({ dataDir: await temporaryDirectory(onTestFinished) })
  onTestFinished(async () => void (await server.kill()))
  const thing = await createThing(server)
  const client = await connectMqtt({
    url: server.mqttUrl,
    clientId: 'board',
    username: 'board',
    password: thing.thingToken,
    keepalive: 2,
    deadline: 60_000,
  })
  server.process.kill('SIGSTOP')
  const answered = client.ping()
  // Longer than the server waits for a client of this keep-alive.
  await delay(4_500)
  server.process.kill('SIGCONT')
  await answered
  await client.ping()
})
