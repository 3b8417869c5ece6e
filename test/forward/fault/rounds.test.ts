import { expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { ForwardRounds, faults } from './rounds.ts'

it('forwarding survives each fault once, with every record once and in order', async () => {
  const run = await ForwardRounds.open({ directory: await temporaryDirectory(), things: 2 })
  onTestFinished(() => run.end())
  expect(await run.run(faults.length)).toEqual([])
})
