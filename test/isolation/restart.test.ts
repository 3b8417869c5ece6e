import { describe, expect, it } from 'vitest'
import { serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { Operator } from './operator.ts'
import { type Restarted, restartStories, willGrace } from './stories/restart.ts'
import { topicRestartStories } from './stories/topics.ts'
import { servedTopics, unlimitedGuesses } from './world.ts'

/** What must not come back with a restart: all stories are begun, the server ends, all are brought to their end. */

describe.each(['stop', 'kill'] as const)('a server that is started again after %s', end => {
  it('brings nothing back that was refused, revoked or over', async () => {
    const dataDir = await temporaryDirectory()
    const first = await start(dataDir)
    const begun = []
    for (const { name, before } of [...restartStories, ...topicRestartStories])
      begun.push({ name, after: await before(first) })
    await first.server[end]()
    const second = await start(dataDir)
    for (const { name, after } of begun) {
      await after(second).catch((cause: unknown) => expect.fail(`${name}: ${cause}`))
    }
  })
})

async function start(dataDir: string): Promise<Restarted> {
  const environment = { ...unlimitedGuesses, ...servedTopics, THINGWIRE_WILL_GRACE: String(willGrace) }
  const server = await serverOfTest({ dataDir, environment })
  return { server, operator: new Operator(server) }
}
