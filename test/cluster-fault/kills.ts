import { setTimeout as delay } from 'node:timers/promises'
import type { Fault, Rounds } from './rounds.ts'

/** Long enough to need more than luck, and shorter than a node is held for alive, milliseconds. */
const alone = 1_000

/** kill -9 of the oldest node, which leads; its clients go to the other one, and to a new one that comes soon. */
export const killNode: Fault = {
  name: 'kill -9 of a node',
  async happen(rounds) {
    const { service, heavy, steady, testators } = rounds
    const doomed = service.member(0)
    const at = Date.now()
    await service.kill(doomed)
    const returned = testators.killed(at)
    await delay(alone)
    await service.add()
    await returned
    await delay(alone)
    const others = [heavy, steady].flatMap(writers => writers.takeAnswers())
    return {
      violations: others.map(answer => `the other node: ${answer}`),
      notes: [],
    }
  },
}

/** kill -9 of Redis, which is started again at once on what it has. */
export const killRedis: Fault = {
  name: 'kill -9 of Redis',
  async happen({ service }: Rounds) {
    await service.redis.kill()
    await service.redis.restart()
    await delay(2_000)
    return { violations: [], notes: [] }
  },
}
