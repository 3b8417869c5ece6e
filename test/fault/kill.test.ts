import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { KillRun } from './kill.ts'
import { noViolations } from './ledger.ts'
import { wayOf } from './planned-write.ts'

/** The short form of `npm run fault`. */

const load = { connections: 6, devices: 6 }
const points = [
  'during commit',
  'during reopen',
  'QoS 1 before PUBACK',
  'QoS 2 before PUBREC',
  'QoS 2 before PUBREL',
] as const

test.concurrent('a server that is killed under load keeps every acked write, no half of any, and QoS 2 writes once', async ({
  onTestFinished,
}) => {
  const run = new KillRun({ dataDir: await temporaryDirectory(onTestFinished), ...load })
  for (const point of points) {
    const { proof, acks, violations } = await run.kill(point)
    expect(proof, point).toBeDefined()
    expect(acks, point).toBeGreaterThan(0)
    expect(violations, point).toEqual(noViolations)
  }
  expect(await run.finalCheck()).toEqual(noViolations)
  expect(run.ledger.withOutcome('refused')).toEqual([])
})

test.concurrent('KillRun finds the writes of a server that acknowledges before it writes', async ({
  onTestFinished,
}) => {
  const run = new KillRun({ dataDir: await temporaryDirectory(onTestFinished), ...load })
  const ways = new Set<string | undefined>()
  // The acks of a commit have got out when the server dies as a rule, and not always.
  for (let kills = 0; kills < 5 && !ways.has('QoS 2'); kills++) {
    const { proof, violations } = await run.kill('early ack')
    expect(proof).toBeDefined()
    for (const name of violations.missing) ways.add(wayOf(name))
  }
  expect(ways).toContain('QoS 2')
})

test.concurrent('KillRun finds the writes of a server that forgets the packet ids of QoS 2 when it dies', async ({
  onTestFinished,
}) => {
  // Those with an id or datetimes are stored once even by this server.
  const kinds = ['plain'] as const
  const run = new KillRun({ dataDir: await temporaryDirectory(onTestFinished), ...load, kinds })
  const { proof } = await run.kill('forgotten packet ids')
  expect(proof).toBeDefined()
  expect((await run.finalCheck()).repeated.length).toBeGreaterThan(0)
})
