import { expect, test } from 'vitest'
import type { RoundPlan } from './pause-client.ts'
import { PausedRounds } from './rounds.ts'

/** The short form of `npm run fault:nodes -- --only pause`, on two services at the same time. */

const timeout = 300_000

async function expectNothingWrong(
  clocks: readonly [number, number],
  plans: readonly RoundPlan[],
  atTheEnd: (end: () => Promise<void>) => void,
) {
  const rounds = await PausedRounds.start(clocks)
  atTheEnd(() => rounds.end())
  for (const plan of plans) expect(await rounds.run(plan), JSON.stringify(plan)).toEqual([])
}

test.concurrent(
  'a node that goes on after a short pause changes nothing that another node has taken over',
  { timeout },
  ({ onTestFinished }) =>
    expectNothingWrong(
      [0, 10],
      [
        { pause: 1_000, moveAfter: 0, oldConnection: 'is closed' },
        { pause: 3_000, moveAfter: 0, oldConnection: 'stays open' },
      ],
      onTestFinished,
    ),
)

test.concurrent(
  'a node that goes on when another one leads its tasks applies nothing a second time',
  { timeout },
  ({ onTestFinished }) =>
    expectNothingWrong([5, -5], [{ pause: 12_000, moveAfter: 0, oldConnection: 'is reset' }], onTestFinished),
)
