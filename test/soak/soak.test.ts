import { expect, test } from 'vitest'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type Defect, defects, withDefect } from './defect.ts'
import { runSoak, type SoakResult, type SoakSetup } from './soak.ts'

/** The short form of `npm run soak`. */

async function soak(
  options: Pick<SoakSetup, 'records' | 'hasStuck' | 'padding' | 'patience'>,
  onEnd: (end: () => Promise<void>) => void,
  environment: NodeJS.ProcessEnv = {},
): Promise<SoakResult> {
  const server = await startServer({ dataDir: await temporaryDirectory(onEnd), environment })
  onEnd(async () => void (await server.stop()))
  return await runSoak({
    server,
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
  const all = [...live, ...slow, ...bound, ...joining, ...stuck, { name: 'retained', ...retained }]
  return Object.fromEntries(
    all.filter(({ findings }) => !findings.isEmpty).map(({ name, findings }) => [name, String(findings)]),
  )
}

test('every subscriber gets every message once and in write order, whoever is stuck, slow, or away', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const result = await soak(
    { records: 3_000, hasStuck: true, padding: 20_000, patience: 15_000 },
    onTestFinished,
  )
  expect(findingsOf(result)).toEqual({})
  expect(result.load.refusals).toEqual([])
  for (const { name, taken } of [...result.live, ...result.slow]) expect(taken, name).toBeGreaterThan(0)
  for (const { name, absences } of result.sessions) expect(absences, name).toBeGreaterThan(0)
  for (const { name, joins, live } of result.joining) expect(Math.min(joins, live), name).toBeGreaterThan(0)
  expect(result.stuck.filter(({ goneAfter }) => goneAfter < Infinity)).toHaveLength(4)
})

test.each(defects)(
  'runSoak() finds that a server has %s messages',
  { timeout: 120_000 },
  async (defect: Defect) => {
    const ends: (() => Promise<void>)[] = []
    try {
      const options = { records: 600, hasStuck: false, padding: 100, patience: 2_000 }
      const result = await soak(options, end => void ends.unshift(end), withDefect(defect))
      for (const { name, findings } of result.live.slice(0, 4))
        expect(findings.count(defect), name).toBeGreaterThan(0)
    } finally {
      for (const end of ends) await end()
    }
  },
)
