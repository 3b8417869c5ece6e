import { setTimeout as delay } from 'node:timers/promises'
import { untilDone } from './participant.ts'
import type { Fault } from './rounds.ts'
import { willGrace } from './service.ts'
import { clientOf, type TimedLedger } from './timed-ledger.ts'
import { seconds } from './words.ts'

/** A client is without service for no longer, milliseconds (issue 6, outage). */
const promised = 5_000
/** What clients of a load balancer see of a node that stops in order. */
const expected = / closed by a node that is there$/
/** What they see of one that does not get in time what it needs. */
const late = / (CONNACK 3|503 store_timeout)$/

/** SIGTERM of each node in turn, which is back before the next one goes. */
export const restartNodes: Fault = {
  name: 'the nodes are restarted, one after the other',
  async happen({ service, heavy, steady, testators }) {
    const began = performance.now()
    const violations: string[] = []
    const allAreBack = testators.comeBack()
    for (const member of service.members) {
      const { code, signal } = await service.restart(member)
      if (code !== 0) violations.push(`a node ended with status ${code}, ${signal}`)
      await untilDone(async () => {
        if ((await service.ready()) < service.members.length) throw new Error('a node is not given clients')
      })
    }
    await allAreBack()
    // The last to be closed were back within it, or their wills are written.
    await delay(2 * willGrace)
    const answers = [heavy, steady].flatMap(writers => writers.takeAnswers())
    const { gap, client } = [heavy, steady]
      .map(({ ledger }) => longestGap(ledger, began))
      .reduce((one, other) => (one.gap > other.gap ? one : other))
    return {
      violations: [...violations, ...answers.filter(answer => !expected.test(answer) && !late.test(answer))],
      overdue: [
        ...answers.filter(answer => late.test(answer)),
        ...(gap > promised ? [`${client} had no ack for ${seconds(gap)}`] : []),
      ],
      notes: [
        ...answers.filter(answer => expected.test(answer)),
        `nobody had no ack for more than ${seconds(gap)} (${client})`,
      ],
    }
  },
}

/** Between two acks of one client, since this time on the clock of `performance.now()`; milliseconds. */
function longestGap({ acked }: TimedLedger, since: number) {
  const newest = new Map<string, number>()
  let longest = { gap: 0, client: 'nobody' }
  for (const { name, at } of acked) {
    const client = clientOf(name)
    const gap = at - (newest.get(client) ?? at)
    if (at > since && gap > longest.gap) longest = { gap, client }
    newest.set(client, at)
  }
  return longest
}
