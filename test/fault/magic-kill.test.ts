import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { MagicRun, magicKillDefects } from './magic-kill.ts'

/** The short form of `npm run fault`. */

const points = [
  'magic write committed, not told',
  'magic write taken, not applied',
  'state committed, not told',
  'some time after the commit of a state has failed',
  'state removed',
  'between two queued writes',
  'in replays',
] as const

test.concurrent('acked magic records are applied once, in order, and told, however often the server is killed before', async ({
  onTestFinished,
}) => {
  const run = new MagicRun(await temporaryDirectory(onTestFinished))
  onTestFinished(() => run.abandon())
  for (const point of points) {
    const { proof, violations } = await run.kill(point)
    expect(proof, point).toBeDefined()
    expect(violations, point).toEqual([])
  }
  expect(await run.finish()).toEqual([])
})

test.concurrent.for(magicKillDefects)(
  'MagicRun finds the %s of a server that is killed',
  async (defect, { onTestFinished }) => {
    const run = new MagicRun(await temporaryDirectory(onTestFinished), 5_000)
    onTestFinished(() => run.abandon())
    const { proof, violations } = await run.kill(defect)
    expect(proof).toBeDefined()
    expect(violations).not.toEqual([])
  },
)
