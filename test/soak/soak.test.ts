import { expect, onTestFinished, test } from 'vitest'
import type { ServerSetup } from '../helpers/server-process.ts'
import { type Defect, defects, withDefect } from './defect.ts'
import { startServers } from './servers.ts'
import { runSoak, type SoakResult, type SoakSetup } from './soak.ts'

/** The short form of `npm run soak`. */

async function soak(
  count: number,
  options: Pick<SoakSetup, 'records' | 'hasStuck' | 'padding' | 'patience'>,
  onEnd: (end: () => Promise<void>) => void,
  setup: ServerSetup = {},
): Promise<SoakResult> {
  const { nodes, end } = await startServers(count, setup)
  onEnd(end)
  return await runSoak({
    nodes,
    things: 10,
    rate: 500,
    awayFor: 200,
    slowPace: { all: 2_000_000, some: 20_000 },
    ...options,
  })
}

/** What each subscriber found wrong, by name. */
function findingsOf({ live, slow, sessions, joining, stuck, retained }: SoakResult): Record<string, string> {
  // A machine that is much too busy lets a session miss more than its bound, and then it may lose some.
  const bound = sessions.filter(({ mostMissed }) => mostMissed < 1_000)
  const views = retained.map((view, index) => ({ name: `retained ${index}`, ...view }))
  const all = [...live, ...slow, ...bound, ...joining, ...stuck, ...views]
  return Object.fromEntries(
    all.filter(({ findings }) => !findings.isEmpty).map(({ name, findings }) => [name, String(findings)]),
  )
}

test.each([
  { place: 'one server', count: 0 },
  { place: 'any of two nodes', count: 2 },
])(
  'every subscriber of $place gets every message once and in write order, whoever is stuck, slow, or away',
  async ({ count }) => {
    const result = await soak(
      count,
      { records: 3_000, hasStuck: true, padding: 50_000, patience: 15_000 },
      onTestFinished,
    )
    // What was refused is missed by everybody.
    expect(result.load.refusals).toEqual([])
    expect(findingsOf(result)).toEqual({})
    for (const { name, taken } of [...result.live, ...result.slow]) expect(taken, name).toBeGreaterThan(0)
    for (const { name, absences } of result.sessions) expect(absences, name).toBeGreaterThan(0)
    for (const { name, joins, live } of result.joining) expect(Math.min(joins, live), name).toBeGreaterThan(0)
    // While a busy machine writes slowly, others get stuck behind these.
    const first = result.stuck.slice(0, 4 * Math.max(1, count))
    for (const { name, goneAfter } of first) expect(goneAfter, name).toBeLessThan(Infinity)
  },
)

test.each(defects)('runSoak() finds that a server has %s messages', async (defect: Defect) => {
  const ends: (() => Promise<void>)[] = []
  try {
    const options = { records: 600, hasStuck: false, padding: 100, patience: 2_000 }
    const result = await soak(0, options, end => void ends.unshift(end), withDefect(defect))
    for (const { name, findings } of result.live.slice(0, 4))
      expect(findings.count(defect), name).toBeGreaterThan(0)
  } finally {
    for (const end of ends) await end()
  }
})
