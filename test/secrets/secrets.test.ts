import { describe, expect, it } from 'vitest'
import { type Exit, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { addDataFiles, addStore } from './data-files.ts'
import { Evidence } from './evidence.ts'
import { playFirst, playSecond } from './play.ts'

const settings = {
  args: ['--log-level', 'trace'],
  environment: {
    THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
    // Wills of a killed server are written while the next one runs.
    THINGWIRE_WILL_GRACE: '100',
  },
}

describe('a server', () => {
  it('tells nobody a secret, and keeps none, whatever is done with it', async () => {
    const dataDir = await temporaryDirectory()
    const evidence = new Evidence()
    const first = await startServer({ dataDir, ...settings })
    evidence.addSecret('admin key', first.adminKey)
    const cast = await untilEnded(first, () => playFirst(first, evidence))
    takeDownOutput(evidence, await first.exited)
    await addDataFiles(evidence, dataDir)

    const second = await startServer({ dataDir, ...settings })
    await untilEnded(second, () => playSecond(second, evidence, cast))
    const exit = await second.exited
    takeDownOutput(evidence, exit)
    const mode = await addDataFiles(evidence, dataDir)
    await addStore(evidence, dataDir)

    expect(exit.code).toBe(0)
    expect(mode).toBe(0o600)
    assertSeen(evidence, cast.player.thingId)
    expect(evidence.leaks()).toEqual([])
  })
})

/** Evidence without these would prove nothing. */
function assertSeen(evidence: Evidence, thingId: string): void {
  const told = ['operator', 'dashboard', 'app', 'writer'].map(name => [`a topic to the ${name}`, thingId])
  const streamed = ['app', 'dashboard', 'player', 'writer'].map(name => [`a stream to the ${name}`, '"mark"'])
  const answered = [
    [`the answer to GET /v2/things/${thingId}/errors`, '[redacted]'],
    ['a message to the operator', '[redacted]'],
    ['stderr', '[redacted]'],
    ['stdout', 'Thingwire is ready'],
  ]
  const files = ['a backup', 'the store', 'a data file'].map(where => [where, thingId])
  const unseen = (kind: 'told' | 'files', wanted: string[][]) =>
    wanted.filter(([where = '', text = '']) => !evidence.holds(kind, where, text))
  expect(unseen('told', [...told, ...streamed, ...answered])).toEqual([])
  expect(unseen('files', files)).toEqual([])
}

/** Whatever happens, the server has ended afterwards. */
async function untilEnded<T>(server: ServerProcess, play: () => Promise<T>): Promise<T> {
  try {
    return await play()
  } finally {
    if (server.process.exitCode === null && server.process.signalCode === null) await server.kill()
  }
}

function takeDownOutput(evidence: Evidence, { stdout, stderr }: Exit): void {
  evidence.add('told', 'stdout', stdout)
  evidence.add('told', 'stderr', stderr)
}
