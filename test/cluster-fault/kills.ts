import { setTimeout as delay } from 'node:timers/promises'
import type { Exit } from '../helpers/server-process.ts'
import type { Fault, Rounds } from './rounds.ts'
import type { Member, Service } from './service.ts'

/** Long enough to need more than luck, and shorter than a node is held for alive, milliseconds. */
const alone = 1_000

/** What clients see of a node that ends. */
const ended = / no answer$/
/** What they see of one that does not get in time what it needs, such as the sessions that the other one had. */
const late = / (CONNACK 3|503 store_timeout|closed by a node that is there)$/

export const killNode = nodeEnds('kill -9 of a node', false, (service, member) => service.kill(member))

/** SIGTERM. */
export const stopNode = nodeEnds('a node is stopped', true, (service, member) => service.stop(member))

/** Of the oldest node, which leads; its clients go to the other one, and to a new one that comes soon. */
function nodeEnds(
  name: string,
  inOrder: boolean,
  end: (service: Service, member: Member) => Promise<Exit>,
): Fault {
  return {
    name,
    async happen({ service, heavy, steady, testators }) {
      const at = Date.now()
      const ending = end(service, service.member(0))
      const returning = testators.nodeEnds(at, { inOrder })
      await ending
      await delay(alone)
      await service.add()
      await returning
      await delay(alone)
      const answers = [heavy, steady].flatMap(writers => writers.takeAnswers())
      const others = answers.filter(answer => !ended.test(answer)).map(answer => `the other node: ${answer}`)
      return {
        violations: others.filter(answer => !late.test(answer)),
        overdue: others.filter(answer => late.test(answer)),
        notes: [],
      }
    },
  }
}

/** kill -9 of Redis, which is started again at once on what it has. */
export const killRedis: Fault = {
  name: 'kill -9 of Redis',
  async happen({ service }: Rounds) {
    await service.redis.kill()
    await service.redis.restart()
    await delay(2_000)
    return { violations: [], overdue: [], notes: [] }
  },
}
