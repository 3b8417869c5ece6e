import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runSoak, type SoakResult, type SoakSetup, withServers } from './soak.ts'

/** The short form of `npm run soak`. */

/** What a broken server does with one live message in twenty, see broken-server.ts. */
const defects = ['lost', 'doubled', 'out of order'] as const

async function soak(
  count: number,
  options: Pick<SoakSetup, 'records' | 'hasStuck' | 'padding' | 'patience'>,
  defect?: (typeof defects)[number],
): Promise<SoakResult> {
  const program = fileURLToPath(new URL('broken-server.ts', import.meta.url))
  const { result } = await withServers(
    count,
    nodes =>
      runSoak({
        ...{ nodes, things: 10, rate: 500, awayFor: 200 },
        slowPace: { all: 2_000_000, some: 20_000 },
        ...options,
      }),
    defect && { program, environment: { SOAK_DEFECT: defect } },
  )
  return result
}

/** What each subscriber found wrong, by name. */
function findingsOf({ live, slow, sessions, joining, stuck, retained }: SoakResult): Record<string, string> {
  // A machine that is much too busy lets a session miss more than its bound, and then it may lose some.
  const bound = sessions.filter(({ mostMissed }) => mostMissed < 1_000)
  const all = [...live, ...slow, ...bound, ...joining, ...stuck, ...retained]
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
    const options = { records: 3_000, hasStuck: true, padding: 40_000, patience: 15_000 }
    const result = await soak(count, options)
    // What was refused is missed by everybody.
    expect(result.load.refusals).toEqual([])
    expect(findingsOf(result)).toEqual({})
    for (const { name, taken } of [...result.live, ...result.slow]) expect(taken, name).toBeGreaterThan(0)
    for (const { name, absences } of result.sessions) expect(absences, name).toBeGreaterThan(0)
    for (const { name, joins, live } of result.joining) expect(Math.min(joins, live), name).toBeGreaterThan(0)
    // While a busy machine writes slowly, others get stuck behind these.
    const first = result.stuck.slice(0, 4 * Math.max(1, count))
    for (const { name, isCut } of first) expect(isCut, name).toBe(true)
  },
)

test.each(defects)('runSoak() finds that a server has %s messages', async defect => {
  const options = { records: 600, hasStuck: false, padding: 100, patience: 2_000 }
  const result = await soak(0, options, defect)
  for (const { name, findings } of result.live.slice(0, 4))
    expect(findings.count(defect), name).toBeGreaterThan(0)
})
