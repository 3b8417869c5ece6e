import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readVoyage } from '../../src/cli/demo/voyage.ts'
import {
  createThing,
  type ReadRecord,
  readAll,
  type ServerAddress,
  type Thing,
} from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { noRateLimits } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { jsonOf, runCommand, startCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

const voyageFile = 'examples/voyage/voyage.csv'
const lastRow = new Date('2025-06-01T14:03:24Z')

/** Resolves when so many writes of the thing were seen live. */
async function writesSeen(server: ServerAddress, thing: Thing, count: number): Promise<() => Promise<void>> {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const headers = { accept: 'text/event-stream' }
  const stream = await fetch(`${server.url}/v2/things/${thing.thingToken}`, { headers, signal: abort.signal })
  return async () => {
    let seen = ''
    const decoder = new TextDecoder()
    for await (const part of stream.body ?? []) {
      // An event is tens of KiB of data, of which the count needs only the heads.
      seen += decoder.decode(part, { stream: true }).replaceAll(/[^\n]{100,}/g, '')
      if (seen.split('event: values').length > count) return
    }
  }
}

/** As the file has it. */
function asWritten({ key, value, datetime, geo }: ReadRecord & { geo?: object }) {
  const [long, lat] = (value as { coordinates?: number[] }).coordinates ?? []
  const reading = key === '$geo' ? { value: null, geo: { lat, long } } : { value, geo }
  return { key, ...reading, datetime: datetime.replaceAll(/\D/g, '') }
}

describe('thingwire write --file', () => {
  it('killed in the middle, and the server too, ends with exactly the records of the voyage', async () => {
    const dataDir = await temporaryDirectory()
    const environment = { XDG_STATE_HOME: await temporaryDirectory() }
    const first = await serverOfTest({ dataDir, environment: noRateLimits })
    const thing = await createThing(first)
    const args = ['write', thing.thingId, '--file', voyageFile, '--date', '2025-06-01', '--tz', 'UTC']

    const seen = await writesSeen(first, thing, 20)
    const killed = startCommand(args, { server: first, environment })
    await seen()
    killed.process.kill('SIGKILL')
    expect(await killed.ended).toMatchObject({ stdout: '' })

    const seenMore = await writesSeen(first, thing, 20)
    const again = startCommand(args, { server: first, environment })
    await seenMore()
    await first.kill()
    await again.told(/again in 1 s/)
    const { port } = new URL(first.url)
    const second = await serverOfTest({ dataDir, args: ['--http-port', port], environment: noRateLimits })
    const { code, stdout, stderr } = await again.ended
    expect({ code, stdout }).toMatchObject({ code: 0 })
    expect(stderr).toMatch(/^continuing after [\d,]+ records of an earlier run$/m)
    expect(stdout).toMatch(/^43,486 records of voyage\.csv are in \S+, [\d,]+ of them from an earlier run$/m)
    expect(await readdir(join(environment.XDG_STATE_HOME, 'thingwire'))).toEqual([])

    const sent = (await readVoyage(lastRow)).flatMap(row => row.records)
    for (const key of new Set(sent.map(record => record.key))) {
      const records = sent.filter(record => record.key === key)
      const stored = (await readAll(second, thing, key)).reverse()
      expect(stored.map(asWritten)).toEqual(
        records.map(record => ({ ...record, datetime: record.datetime.padEnd(17, '0') })),
      )
    }
  })

  describe('on one server', () => {
    let server: Served
    beforeAll(async () => {
      server = await serve()
      return server.end
    })

    async function load(content: string, ...args: string[]) {
      const thing = await createThing(server)
      const directory = await temporaryDirectory()
      const file = join(directory, 'records.ndjson')
      await writeFile(file, content)
      const setup = { server, environment: { XDG_STATE_HOME: join(directory, 'state') } }
      const run = () => runCommand(['write', thing.thingId, '--file', file, '--now', ...args], setup)
      return { thing, file, run }
    }

    const numbered = (count: number) =>
      Array.from({ length: count }, (_, value) => `${JSON.stringify({ key: 'n', value })}\n`)

    it('stores nothing twice of a file without datetimes, also where its state was lost', async () => {
      const { thing, run } = await load(numbered(1_200).join(''))
      expect(await run()).toMatchObject({ code: 0 })
      expect(await run()).toMatchObject({ code: 0 })
      expect(await readAll(server, thing, 'n')).toHaveLength(1_200)
    })

    it('names line and field of what is refused, keeps its batch out, and goes on when it is mended', async () => {
      const lines = numbered(1_200).with(699, '{"key":"not a key","value":1}\n')
      const { thing, file, run } = await load(lines.join(''))
      const refused = await run()
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toMatch(/^ {2}line 700\b.*key.*\(invalid_key\)$/m)
      expect(await readAll(server, thing, 'n')).toHaveLength(500)
      await writeFile(file, numbered(1_200).join(''))
      const mended = await run()
      expect(mended).toMatchObject({ code: 0 })
      expect(mended.stderr).toContain('continuing after 500 records')
      const stored = await readAll(server, thing, 'n')
      expect(stored.map(({ value }) => value).sort((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: 1_200 }, (_, value) => value),
      )
    })

    it('begins anew where what was written of a file has changed', async () => {
      const lines = numbered(1_200).with(1_100, 'no record\n')
      const { thing, file, run } = await load(lines.join(''))
      expect(await run()).toMatchObject({ code: 1 })
      await writeFile(file, numbered(600).with(0, '{"key":"other","value":0}\n').join(''))
      const changed = await run()
      expect(changed).toMatchObject({ code: 0 })
      expect(changed.stderr).toContain('the file has changed since the last run')
      expect(await readAll(server, thing, 'other')).toHaveLength(1)
    })

    it('leaves out with --partial what is refused, and says so', async () => {
      const { thing, run } = await load('{"key":"n","value":1}\n{"key":"a b","value":2}\n[]\n', '--partial')
      const { code, stdout, stderr } = await run()
      expect({ code, stdout }).toEqual({
        code: 1,
        stdout: `1 record of records.ndjson is in ${thing.thingId}\n`,
      })
      expect(stderr).toMatch(/^line 2\b.*\(invalid_key\)$/m)
      expect(stderr).toMatch(/^line 3\b/m)
      expect(await readAll(server, thing, 'n')).toHaveLength(1)
    })

    it('says of an empty file that it contains no records', async () => {
      const { run } = await load('\n')
      const { code, stdout, stderr } = await run()
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: 'records.ndjson contains no records\n',
        stderr: '',
      })
    })

    it('says once what is wrong with many lines', async () => {
      const lines = numbered(6)
        .with(1, '[]\n')
        .with(2, '[]\n')
        .with(4, '{"a":1,"a":2}\n')
        .with(5, '{"b":1,"b":2}\n')
      const { run } = await load([...lines, '[]\n'].join(''))
      const { code, stderr } = await run()
      expect(code).toBe(1)
      const [, refused = ''] = stderr.split(/^thingwire: .*\n/m)
      expect(refused.split('\n')).toEqual([
        expect.stringMatching(/^ {2}3 lines from 2 to 7: the line is not a JSON object, .*--format csv/),
        '  lines 5 to 6, the first: the member "a" appears twice in one object: remove one',
        '',
      ])
    })

    it('stores readings of stdin again each time: they are new ones', async () => {
      const thing = await createThing(server)
      const setup = { server, environment: { THINGWIRE_TOKEN: thing.thingToken } }
      for (const _ of [1, 2]) {
        const written = await runCommand(['write', '--now'], { ...setup, input: '{"key":"n","value":1}\n' })
        expect(written).toMatchObject({ code: 0 })
      }
      expect(await readAll(server, thing, 'n')).toHaveLength(2)
    })

    it('stores a file again whose records were deleted', async () => {
      const { thing, run } = await load('{"key":"n","value":1,"datetime":"2025-06-01T09:30:00Z"}\n')
      expect(await run()).toMatchObject({ code: 0 })
      const headers = { authorization: `Bearer ${server.adminKey}` }
      await fetch(`${server.url}/v2/things/${thing.thingId}/resources/n`, { method: 'DELETE', headers })
      expect(await run()).toMatchObject({ code: 0 })
      expect(await readAll(server, thing, 'n')).toHaveLength(1)
    })

    it('takes readings as arguments, with a position and a time', async () => {
      const thing = await createThing(server)
      const written = await jsonOf(
        ['write', 'n=1.5', 'state={"on":true}', '--geo', '60.08,23.54', '--datetime', '20250601093000'],
        { server, environment: { THINGWIRE_TOKEN: thing.thingToken } },
      )
      expect(written).toMatchObject({ thingId: thing.thingId, records: 2, refused: 0 })
      expect(await readAll(server, thing, 'state')).toEqual([
        {
          key: 'state',
          value: { on: true },
          datetime: '2025-06-01T09:30:00.000Z',
          geo: { lat: 60.08, long: 23.54 },
        },
      ])
    })
  })

  it('waits as long as the server says where a thing writes too much', async () => {
    const dataDir = await temporaryDirectory()
    const server = await serverOfTest({ dataDir, environment: { THINGWIRE_RECORDS_PER_SECOND: '200' } })
    const thing = await createThing(server)
    const input = await readFile(voyageFile, 'utf8')
    const rows = `${input.split('\n').slice(0, 400).join('\n')}\n`
    const { code, stderr } = await runCommand(
      ['write', '--format', 'csv', '--date', '2025-06-01', '--tz', 'UTC'],
      {
        server: { url: server.url },
        environment: { THINGWIRE_TOKEN: thing.thingToken },
        input: rows,
      },
    )
    expect(code).toBe(0)
    expect(stderr).toMatch(/\(record_rate_exceeded, HTTP 429\): again in \d+ s$/m)
    expect(await readAll(server, thing, 'depth_m')).toHaveLength(399)
  })
})
