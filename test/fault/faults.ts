import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, write } from '../helpers/http-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { eventually, untilReady } from '../helpers/waiting.ts'
import { outage } from '../rig/outage.ts'
import { type Fault, nothingSeen, type Rounds } from '../rig/rounds.ts'
import { levelLogFile } from './level-log.ts'
import { injectIntoSyncs, Strace } from './strace.ts'

/** What happens to one server, its disk or its connections under load, short of a kill. */

/** Milliseconds; the store tries every second. */
const recoveryDeadline = 30_000
/** Whatever a disk that fails is answered with. */
const storeAway = answersOf('store_unavailable|store_timeout')
/** Until there is a reserve again. */
const storeFull = answersOf('store_unavailable|store_timeout|store_full')
/** Of a pause, milliseconds: some are a little shorter than `storeTimeout`. */
const pauses = { shortest: 4_500, longest: 8_000 }

function answersOf(reasons: string): RegExp {
  return new RegExp(`^(503 (${reasons})|no answer|.*: (CONNACK (3|136)|closed by a node that is there))$`)
}

/** What holds a server up for longer than a write is waited for. */
const holds: Readonly<Record<string, (server: ServerProcess, milliseconds: number) => Promise<void>>> = {
  SIGSTOP: async (server, milliseconds) => {
    server.process.kill('SIGSTOP')
    await delay(milliseconds)
    server.process.kill('SIGCONT')
  },
  // No group of writes is durable before it lets go.
  'fsync held back': async (server, milliseconds) => {
    const strace = await injectIntoSyncs(server, `delay_enter=${2 * pauses.longest * 1_000}`)
    await delay(milliseconds)
    await strace.detach()
  },
}

/** A server stands still in the midst of a load, goes on, and is sent again what it did not acknowledge. */
export const pauseFaults: readonly Fault[] = Object.entries(holds).map(([name, hold]) => ({
  name,
  async happen({ service }) {
    await delay(Math.random() * 500)
    const held = Math.round(pauses.shortest + Math.random() * (pauses.longest - pauses.shortest))
    await hold(service.node(0), held)
    return { ...nothingSeen, notes: [`held for ${held} ms`] }
  },
}))

/**
 * Connections of devices are cut again and again, each of which comes back at once while its last writes are still being
 * committed, since every fsync is held back by some milliseconds.
 *
 * @param writes acks after which it is over
 */
export function cutConnections(writes: number, milliseconds: number): Fault {
  return {
    name: 'connections are cut and back at once',
    expected: /: closed by a node that is there$/,
    async happen(rounds) {
      const strace = await injectIntoSyncs(rounds.service.node(0), `delay_enter=${milliseconds * 1_000}`)
      const enough = rounds.acks + writes
      const devices = rounds.writers.flatMap(each => each.devices)
      let cuts = 0
      while (rounds.acks < enough) {
        await delay(Math.random() * 3 * milliseconds)
        const device = devices[cuts % devices.length]
        if (device?.isConnected) cuts++
        await device?.destroy()
      }
      await strace.detach()
      const proof = cuts > 10 ? `${cuts} cuts` : undefined
      return { ...nothingSeen, notes: [`${cuts} cuts`], proof }
    },
  }
}

/** Every fsync fails with EIO for a while; the same process goes on afterwards, and is started anew. */
export function failedSync(): Fault {
  let strace: Strace | undefined
  const wrong: string[] = []
  const course = {
    begin: async ({ service }: Rounds) => {
      strace = await injectIntoSyncs(service.node(0), 'error=EIO')
      // Before the first write has failed, a device is let in.
      await delay(1_000)
    },
    away: 4_000,
    end: async (rounds: Rounds) => {
      wrong.push(...(await readsAt(rounds)), ...unacked(rounds))
      await strace?.detach()
    },
  }
  const { name, happen } = outage('EIO from fsync for a while', course)
  return {
    name,
    expected: storeAway,
    async happen(rounds) {
      const { violations, ...seen } = await happen(rounds)
      wrong.push(...(await restart(rounds)))
      return { ...seen, violations: [...violations, ...wrong] }
    },
  }
}

/** Every fsync fails with EIO, and the process is killed while it does. */
export const killedInFailedSync: Fault = {
  name: 'EIO from fsync, then kill -9',
  expected: storeAway,
  async happen(rounds) {
    const { service, ledgers } = rounds
    const strace = await injectIntoSyncs(service.node(0), 'error=EIO')
    const began = performance.now()
    await delay(3_000)
    const acked = ledgers.flatMap(ledger => ledger.acked.filter(({ sentAt }) => sentAt > began))
    const violations = acked.map(({ name }) => `${name} was acked while fsync failed`)
    violations.push(...(await readsAt(rounds)), ...unacked(rounds))
    await service.node(0).kill()
    await strace.ended()
    violations.push(...(await rounds.startAgain()))
    return { ...nothingSeen, violations }
  },
}

/** What fails once; a write to the log may be the second half of a batch. */
const singleFaults = { 'EIO from fdatasync': 'fdatasync', 'ENOSPC from write': 'write' } as const

/** One or a few calls on the log fail, while valid writes and writes that are refused for their content come in. */
export const failedWrites: readonly Fault[] = Object.entries(singleFaults).map(([name, call]) => ({
  name: `one ${name}`,
  expected: call === 'write' ? storeFull : storeAway,
  prepare: ({ writers }) => {
    for (const each of writers) each.sizes = 'any'
  },
  async happen(rounds) {
    const { service } = rounds
    const server = service.node(0)
    const output = join(service.dataDir, 'failed-writes')
    const [error] = name.split(' ')
    // Counted by strace for each thread of the pool apart.
    const inject = `inject=${call}:error=${error}:when=${2 + Math.floor(Math.random() * 8)}`
    const log = ['-P', await levelLogFile(service.dataDir), '-e', `trace=${call}`, '-s', '0']
    const strace = await Strace.attach(Number(server.process.pid), [...log, '-e', inject, '-o', output])
    const violations = await postRefused(rounds)
    await strace.detach()
    await untilReady(server, recoveryDeadline)
    // A store that has lacked room reads on, and takes nothing new until it has looked at the disk again.
    const isTaking = () =>
      createThing(server).then(
        () => true,
        () => false,
      )
    if (!(await eventually(isTaking, recoveryDeadline))) violations.push('the server takes nothing again')
    violations.push(...(await restart(rounds)))
    const hasFailed = (await readFile(output, 'latin1')).includes('(INJECTED)')
    return { ...nothingSeen, violations, proof: hasFailed ? 'it did fail' : undefined }
  },
}))

/** Of a second. @returns answers that are none of a refusal, in words */
async function postRefused({ service, writers }: Rounds): Promise<string[]> {
  const [thing] = writers.flatMap(({ things }) => things)
  const wrong: string[] = []
  for (let posted = 0; posted < 150; posted++) {
    if (!thing) break
    const answer = await write(service.node(0), thing, { values: [{ key: 'not a key', value: 1 }] })
    const { reason } = (await answer.json()) as { readonly reason: string }
    const isExpected = reason === 'invalid_key' || (answer.status === 503 && reason.startsWith('store_'))
    if (!isExpected) wrong.push(`a refused write: ${answer.status} ${reason}`)
    await delay(5)
  }
  return wrong
}

/** @returns that no device waits for an ack, if so */
function unacked({ writers }: Rounds): string[] {
  const isWaiting = writers.some(({ devices }) => devices.some(({ inFlight }) => inFlight.length > 0))
  return isWaiting ? [] : ['no device had a write that was not acked while fsync failed']
}

/** @returns what is wrong with reads while the store is away, in words */
async function readsAt({ service, writers }: Rounds): Promise<string[]> {
  const reads = writers.flatMap(({ things }) =>
    things.map(async ({ thingToken }) => {
      const { status } = await fetch(`${service.node(0).url}/v2/things/${thingToken}/resources/temperature`)
      return status === 503 ? [] : [`a read was answered with ${status} while fsync failed`]
    }),
  )
  return (await Promise.all(reads)).flat()
}

/** SIGTERM, and a start. */
async function restart(rounds: Rounds): Promise<readonly string[]> {
  await rounds.service.stop(rounds.service.member(0))
  return await rounds.startAgain()
}
