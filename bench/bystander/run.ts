import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { startWriting, steadily } from '../load/writes.ts'
import { startOwnServer } from '../peers/product.ts'
import { makeBenchDirectory, median, readOptions, report } from '../program.ts'
import { WatchedTurns } from '../turns/watched-turns.ts'
import { attacks } from './attacks.ts'
import { fillStage } from './stage.ts'

/**
 * `npm run bench:bystander [-- --only aggregates+CSV --rounds 5]`: cheap requests with costly answers, all at once, while another
 * thing writes 50 readings a second on a connection of its own. Judges the longest turn of the event loop, and the longest ack
 * of the bystander with the attack and without, as medians of the rounds. Exits with 1 if a bound is missed. Linux only.
 */

const { only, rounds } = readOptions({ only: '', rounds: 5 })
/** Milliseconds: processor time of a turn; of an ack, at least. */
const bounds = { turn: 100, ack: 250 }
/** The same of an ack behind long late writes: each is committed whole, and one of several is in front. */
const ackBehindWrites = 2_000
/** An ack may take so many times as long as without the attack. */
const factor = 3
/** Milliseconds without an attack, in each round. */
const quiet = 2_000
/** Of the bystander, a second. */
const rate = 50

const directory = await makeBenchDirectory()
report('filling the store')
const stage = await fillStage(join(directory, 'store'))
const turns = new WatchedTurns(join(directory, 'turns.sock'))
const environment = { THINGWIRE_ADMIN_KEY: stage.adminKey, THINGWIRE_TOPICS: 'tele/#', ...turns.environment }
const server = await startOwnServer({ dataDir: directory, environment })

const judged = new JudgedLines()
for (const [name, attack] of Object.entries(attacks)) {
  if (!only.split('+').some(part => name.includes(part))) continue
  const longest = { turn: [] as number[], quiet: [] as number[], attacked: [] as number[] }
  let seconds = 0
  let failed = ''
  for (let round = 0; round < rounds; round++) {
    longest.quiet.push((await watched(() => delay(quiet))).ack)
    const begin = performance.now()
    const { ack, turn } = await watched(() =>
      attack({ server, stage, round }).catch(error => {
        failed = String(error)
      }),
    )
    seconds += (performance.now() - begin) / 1_000
    longest.attacked.push(ack)
    longest.turn.push(turn)
  }
  const [ack, without, turn] = [median(longest.attacked), median(longest.quiet), median(longest.turn)]
  const bound = Math.max(name.endsWith('late') ? ackBehindWrites : bounds.ack, factor * without)
  judged.line(
    turn <= bounds.turn && ack <= bound && Number.isFinite(bound) && failed === '',
    `${name}: a turn ${turn.toFixed(0)} ms at most (bound ${bounds.turn}, ever ${Math.max(...longest.turn).toFixed(0)}), an ack ${ack.toFixed(0)} ms (bound ${bound.toFixed(0)}, ` +
      `without ${without.toFixed(0)}); ${(seconds / rounds).toFixed(1)} s ${failed}`,
  )
}
await server.stop()
process.exit(judged.broken === 0 ? 0 : 1)

/** Does something while the bystander writes: its longest ack and the longest turn, milliseconds. */
async function watched(task: () => Promise<unknown>): Promise<{ ack: number; turn: number }> {
  const endWatching = turns.watch()
  const writing = await startWriting(steadily(server.mqttUrl, [stage.bystander.thingToken], rate))
  await task()
  // A bystander whose connection was closed, or whose write was not acked, has waited for ever.
  const ack = await writing.stop().then(
    ({ latency, unacked }) => (unacked === 0 ? (latency?.max ?? 0) : Number.POSITIVE_INFINITY),
    () => Number.POSITIVE_INFINITY,
  )
  const { processor } = await endWatching()
  return { ack, turn: Math.max(0, ...processor) }
}
