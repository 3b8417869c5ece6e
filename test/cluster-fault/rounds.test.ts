import { expect, test } from 'vitest'
import { versionNames } from '../helpers/mqtt-versions.ts'
import { type Fault, Rounds, type RoundsSetup } from '../rig/rounds.ts'
import { faults } from './faults.ts'

/** The short form of `npm run fault:nodes`, on two services at the same time. */

async function expectNothingWrong(
  faults: readonly Fault[],
  atTheEnd: (end: () => Promise<void>) => void,
  cast: RoundsSetup['cast'] = ['heavy', 'steady', 'magic', 'wills'],
) {
  const rounds = await Rounds.start({ cast, writers: 3 })
  atTheEnd(() => rounds.end())
  for (const fault of faults) {
    const { acks, violations } = await rounds.run(fault)
    expect(violations, fault.name).toEqual([])
    expect(acks, fault.name).toBeGreaterThan(0)
  }
  for (const door of Object.values(versionNames)) expect(rounds.acksOver(door), door).toBeGreaterThan(0)
  expect(await rounds.finish()).toEqual([])
}

test.concurrent(
  'nodes lose nothing that was acked, and deliver it in order, when one of them or Redis is killed',
  {
    timeout: 300_000,
  },
  ({ onTestFinished }) => expectNothingWrong([faults.killNode, faults.killRedis], onTestFinished),
)

test.concurrent(
  'nodes ack nothing while Redis is away, for all or for one of them, and lose nothing by it',
  {
    timeout: 300_000,
  },
  ({ onTestFinished }) => expectNothingWrong([faults.stopRedis, faults.isolateNode], onTestFinished),
)

test.concurrent(
  'nodes keep what the devices of a source publish, and each device in one thing, when they are killed',
  {
    timeout: 300_000,
  },
  ({ onTestFinished }) =>
    expectNothingWrong([faults.killNode, faults.killNode], onTestFinished, ['household']),
)
