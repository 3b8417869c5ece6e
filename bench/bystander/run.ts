import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { preload } from '../../test/helpers/preload.ts'
import { startServer } from '../../test/helpers/server-process.ts'
import { makeBenchDirectory } from '../bench-directory.ts'
import { LoadProcess } from '../load/load-process.ts'
import { endWithUs } from '../peers/program.ts'
import { median } from '../statistics.ts'
import type { TurnTimes } from '../turns/turns-preload.ts'
import { attacks, type Scene } from './attacks.ts'
import { fillStage } from './stage.ts'

/**
 * `npm run bench:bystander [-- --only aggregates+CSV --rounds 5]`: cheap requests with costly answers, all at once, while another
 * thing writes a reading every 20 ms on a connection of its own. Judges the longest turn of the event loop, and the longest ack
 * of the bystander with the attack and without, as medians of the rounds. Exits with 1 if a bound is missed. Linux only.
 */

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '5' } },
})
const rounds = Number(values.rounds)
/** Milliseconds: processor time of a turn; of an ack, at least. */
const bounds = { turn: 100, ack: 250 }
/** The same of an ack behind long late writes: each is committed whole, and one of several is in front. */
const ackBehindWrites = 2_000
/** An ack may take so many times as long as without the attack. */
const factor = 3
/** Milliseconds without an attack, in each round. */
const quiet = 2_000

const directory = await makeBenchDirectory()
process.stderr.write('filling the store\n')
const stage = await fillStage(join(directory, 'store'))
const socketPath = join(directory, 'turns.sock')
const server = await startServer({
  dataDir: directory,
  environment: {
    ...preload(new URL('../turns/turns-preload.ts', import.meta.url)),
    BENCH_TURNS: socketPath,
    THINGWIRE_ADMIN_KEY: stage.adminKey,
    THINGWIRE_TOPICS: 'tele/#',
  },
})
endWithUs(server.process)
const bystander = new LoadProcess(new URL('bystander-child.ts', import.meta.url))

const wanted = values.only.split('+')
const judged = new JudgedLines()
for (const [name, attack] of Object.entries(attacks)) {
  if (!wanted.some(part => name.includes(part))) continue
  const turns: number[] = []
  const acks = { quiet: [] as number[], attacked: [] as number[] }
  let seconds = 0
  let failed = ''
  for (let round = 0; round < rounds; round++) {
    acks.quiet.push((await watched(() => delay(quiet))).ack)
    const begin = performance.now()
    const { ack, turn } = await watched(() =>
      attack({ server, stage, round } satisfies Scene).catch(error => {
        failed = String(error)
      }),
    )
    seconds += (performance.now() - begin) / 1_000
    acks.attacked.push(ack)
    turns.push(turn)
  }
  const [ack, without, turn] = [median(acks.attacked), median(acks.quiet), median(turns)]
  const bound = Math.max(name.endsWith('late') ? ackBehindWrites : bounds.ack, factor * without)
  judged.line(
    turn <= bounds.turn && ack <= bound && Number.isSafeInteger(Math.round(bound)) && failed === '',
    `${name}: a turn ${turn.toFixed(0)} ms at most (bound ${bounds.turn}, ever ${Math.max(...turns).toFixed(0)}), an ack ${ack.toFixed(0)} ms (bound ${bound.toFixed(0)}, ` +
      `without ${without.toFixed(0)}); ${(seconds / rounds).toFixed(1)} s ${failed}`,
  )
}
await bystander.stop()
await server.stop()
process.exit(judged.broken === 0 ? 0 : 1)

/** Does something while the bystander writes: its longest ack and the longest turn, milliseconds. */
async function watched(task: () => Promise<unknown>): Promise<{ ack: number; turn: number }> {
  const watch = connect(socketPath)
  await bystander.ask('begin', {
    url: server.mqttUrl,
    ...stage.bystander,
    password: stage.bystander.thingToken,
  })
  await task()
  const ack = await bystander.ask<number>('end')
  watch.end()
  const { processor } = JSON.parse(await text(watch)) as TurnTimes
  return { ack, turn: Math.max(0, ...processor) }
}
