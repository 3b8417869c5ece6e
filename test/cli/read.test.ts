import { beforeAll, describe, expect, it } from 'vitest'
import { Program } from '../clients/program.ts'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { jsonOf, runCommand, startCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

describe('thingwire read', () => {
  let server: Served
  let thing: Thing
  const records = 2_500
  beforeAll(async () => {
    server = await serve()
    thing = await createThing(server)
    const begin = Date.parse('2025-06-01T00:00:00Z')
    const values = Array.from({ length: records }, (_, value) => ({
      key: 'n',
      value,
      datetime: new Date(begin + value * 1000).toISOString(),
    }))
    await write(server, thing, { values })
    const others = [0, 1000, 2000].map(second => ({
      key: 'other',
      value: second,
      datetime: new Date(begin + second * 1000).toISOString(),
    }))
    await write(server, thing, { values: others })
    await write(server, thing, { values: [{ key: '$settings', value: { alarm: { depth: 3 } } }] })
    await write(server, thing, { values: [{ key: 'rude', value: '\u001b[2Jgone' }] })
    return server.end
  })

  async function read(...args: string[]): Promise<string> {
    const environment = { THINGWIRE_TOKEN: thing.thingToken }
    const { code, stdout, stderr } = await runCommand(['read', ...args], { server, environment })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
  }

  it('says where the keys are if there is none of this name', async () => {
    const told = await runCommand(['read', thing.thingId, 'temprature'], { server })
    expect(told).toMatchObject({ code: 1, stdout: '' })
    expect(told.stderr).toMatch(/no record of temprature: the thing has .*\bother\b/)
  })

  it('--json is one document of all pages', async () => {
    const all = JSON.parse(await read('n', '--json')) as { value: number }[]
    expect(all.map(({ value }) => value)).toEqual(Array.from({ length: records }, (_, n) => records - 1 - n))
  })

  it('--ndjson and --csv are what the server streams, in the range', async () => {
    const range = ['--from', '2025-06-01T00:00:01Z', '--to', '2025-06-01T00:00:03Z', '--order', 'asc']
    expect(await read('n', '--ndjson', ...range)).toBe(
      '{"key":"n","value":1,"datetime":"2025-06-01T00:00:01.000Z"}\n{"key":"n","value":2,"datetime":"2025-06-01T00:00:02.000Z"}\n',
    )
    expect(await read('n', '--csv', '--limit', '1')).toBe(
      `datetime,value,lat,long\r\n2025-06-01T00:41:39.000Z,2499,,\r\n`,
    )
  })

  it.each([
    [['--csv'], 'datetime,value,lat,long\r\n'],
    [['--ndjson'], ''],
    [['--json'], '[]\n'],
    [['--csv', '--aggregate', 'avg', '--interval', '1h'], 'datetime,avg\r\n'],
    [['--limit', '3'], ''],
    [['--points', '5'], ''],
  ])('%j notes that the range is empty, and where the newest record is', async (flags, stdout) => {
    const environment = { THINGWIRE_TOKEN: thing.thingToken }
    const args = ['read', 'n', '--from', '2024-01-01', '--to', '2024-01-02', ...flags]
    expect(await runCommand(args, { server, environment })).toMatchObject({
      code: 0,
      stdout,
      stderr: 'thingwire: note: no record of n in the range; its newest is of 2025-06-01T00:41:39.000Z\n',
    })
  })

  it('--aggregate follows all pages of intervals', async () => {
    const text = await read('n', '--aggregate', 'count,max', '--interval', '1s', '--csv', '--order', 'asc')
    const rows = text.split('\r\n')
    expect(rows[0]).toBe('datetime,count,max')
    expect(rows.slice(1, -1)).toHaveLength(records)
    expect(rows.at(-2)).toBe('2025-06-01T00:41:39.000Z,1,2499')
  })

  it('reads intervals of several keys in the order of time, each page once', async () => {
    const range = ['--from', '2025-06-01', '--to', '2025-06-02']
    const query = ['--aggregate', 'count,max', '--interval', '1s', '--order', 'asc', ...range]
    const rows = (await read('n,other,n', ...query, '--csv')).trimEnd().split('\r\n')
    expect(rows.slice(0, 4)).toEqual([
      'key,datetime,count,max',
      'n,2025-06-01T00:00:00.000Z,1,0',
      'other,2025-06-01T00:00:00.000Z,1,0',
      'n,2025-06-01T00:00:01.000Z,1,1',
    ])
    expect(rows).toHaveLength(1 + records + 3)
    expect(new Set(rows).size).toBe(rows.length)
    const some = (await read('n,other', ...query, '--csv', '--limit', '1500')).trimEnd().split('\r\n')
    expect(some).toEqual(rows.slice(0, 1 + 1500 + 2))
    const newest = JSON.parse(await read('n,other', ...query, '--order', 'desc', '--json', '--limit', '2'))
    expect(newest).toEqual([
      { key: 'n', datetime: '2025-06-01T00:41:39.000Z', count: 1, max: 2499 },
      { key: 'n', datetime: '2025-06-01T00:41:38.000Z', count: 1, max: 2498 },
    ])
  })

  it('--points gives intervals of a round length for a chart', async () => {
    const text = await read('n', '--points', '30', '--csv', '--order', 'asc')
    const rows = text.trimEnd().split('\r\n')
    expect(rows.slice(0, 2)).toEqual([
      'datetime,avg,min,max,count,first,last',
      '2025-06-01T00:00:00.000Z,59.5,0,119,120,0,119',
    ])
    expect(rows).toHaveLength(1 + 21)
    expect(await read('n', '--points', '1', '--ndjson')).toBe(
      '{"datetime":"2025-06-01T00:00:00.000Z","avg":1249.5,"min":0,"max":2499,"count":2500,"first":0,"last":2499}\n',
    )
  })

  it('--tz gives days and months of a zone, --empty those without records too', async () => {
    const query = [
      '--aggregate',
      'count',
      '--interval',
      '1d',
      '--tz',
      'Europe/Madrid',
      '--order',
      'asc',
      '--ndjson',
    ]
    const range = ['--from', '2025-05-31T22:00:00Z', '--to', '2025-06-02T22:00:00Z']
    expect(await read('n', ...query, ...range, '--empty')).toBe(
      '{"datetime":"2025-05-31T22:00:00.000Z","count":2500}\n{"datetime":"2025-06-01T22:00:00.000Z","count":0}\n',
    )
    expect(await read('n', ...query, '--interval', '1mo')).toBe(
      '{"datetime":"2025-05-31T22:00:00.000Z","count":2500}\n',
    )
  })

  it('--tz is the zone of --from and --to of records, too, and of nothing else', async () => {
    const limit = ['--order', 'asc', '--limit', '1', '--ndjson', '--tz']
    for (const [from, to, zone] of [
      ['2025-06-01', '2025-06-02', 'Pacific/Auckland'],
      ['2025-05-31', '2025-06-01', 'America/New_York'],
    ] as const) {
      const text = await read('n', '--from', from, '--to', to, ...limit, zone)
      expect(text).toContain('"datetime":"2025-06-01T00:00:00.000Z"')
    }
    const alone = await runCommand(['read', 'n', '--tz', 'Europe/Madrid'], { server })
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringMatching(/--tz needs --aggregate/) })
  })

  it('--tz is the zone of --from and --to that name none', async () => {
    const query = ['--aggregate', 'count', '--interval', '1d', '--tz', 'Europe/Madrid', '--empty', '--ndjson']
    const ofDay = '{"datetime":"2025-05-31T22:00:00.000Z","count":2500}\n'
    for (const [from, to] of [
      ['2025-06-01', '2025-06-02'],
      ['2025-06-01T00:00', '20250602000000'],
      ['2025-06-01 00:00:00', '2025-06-01T22:00:00Z'],
    ] as const) {
      expect(await read('n', ...query, '--from', from, '--to', to)).toBe(ofDay)
    }
    const refused = await runCommand(['read', 'n', ...query, '--tz', 'Mars/Base'], { server })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/--tz must be a time zone/) })
  })

  it.each([
    ['2025-06-01', '2025-06-01'],
    ['2025-06-01T00:00:01Z', '2025-06-01T02:00:01+02:00'],
  ])('refuses a range that is empty: %s to %s', async (from, to) => {
    const { code, stdout, stderr } = await runCommand(['read', 'n', '--from', from, '--to', to], { server })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /--from .* and --to .* are the same time, so the range is empty: --to is exclusive/,
    )
  })

  it('--sparkline is a line of bars, and the range', async () => {
    const [line = '', about] = (await read('n', '--sparkline')).split('\n')
    expect(line).toMatch(/^▁+▂+▃+▄+▅+▆+▇+█+$/)
    expect(about).toMatch(/^2025-06-01T00:00:00\.000Z to 2025-06-01T00:41:00\.000Z, averages of 60s, /)
  })

  it('gives the present state of a magic resource', async () => {
    expect(JSON.parse(await read('$settings.alarm'))).toMatchObject({ value: { depth: 3 } })
  })

  it('without a key gives the newest record of each resource', async () => {
    const lines = (await read()).trimEnd().split('\n')
    expect(lines.map(line => (JSON.parse(line) as { key: string }).key)).toEqual([
      '$settings',
      'n',
      'other',
      'rude',
    ])
  })
})

describe('a key that nobody has written', () => {
  let server: Served
  let thing: Thing
  let empty: Thing
  beforeAll(async () => {
    server = await serve()
    thing = await createThing(server)
    empty = await createThing(server)
    await write(server, thing, { values: ['depth', 'temperature'].map(key => ({ key, value: 1 })) })
    await write(server, thing, { values: [{ key: '$settings', value: { a: 1 } }] })
    return server.end
  })
  const has = /the thing has (?=.*depth)(?=.*temperature)/

  it('is named by read and remove, with those that there are', async () => {
    const cases = [
      [['read', thing.thingId, 'temprature'], has],
      [['read', thing.thingId, 'temprature', '--csv'], has],
      [['read', thing.thingId, 'temprature', '--sparkline'], has],
      [['remove', thing.thingId, 'temprature'], has],
      [['remove', empty.thingId, 'depth'], /the thing has no keys yet/],
      [['read', empty.thingId, 'depth'], /the thing has no keys yet/],
    ] as const
    for (const [args, text] of cases) {
      const { code, stderr } = await runCommand(args, { server })
      expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringMatching(text) })
      expect(stderr).toMatch(/temprature|depth/)
    }
  })

  it('is left out and named where others are read beside it', async () => {
    const several = ['read', thing.thingId, 'depth,temprature', '--points', '9']
    expect(await runCommand(several, { server })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^thingwire: note: no record of temprature: the thing has /),
    })
  })

  it('is named by tail, which watches all the same', async () => {
    const { thingId } = thing
    const tail = startCommand(['tail', thingId, 'temprature', '$settings.a'], { server })
    await tail.told(new RegExp(`^${thingId} has no key temprature yet: ${has.source}.*$`, 'm'))
    await tail.told(/^watching /m)
    await write(server, thing, { values: [{ key: 'temprature', value: 2 }] })
    await tail.said(/"value":2/)
    const none = startCommand(['tail', empty.thingId, 'n'], { server })
    await none.told(/has no key n yet: the thing has no keys yet/)
    const known = startCommand(['tail', thingId, 'depth'], { server })
    await known.told(/^watching /)
  })
})

/** Runs a command on a terminal, with the token of the thing. */
function onTerminal({ url }: { readonly url: string }, { thingToken }: Thing, args: string): Program {
  const credential = `THINGWIRE_URL=${url} THINGWIRE_TOKEN=${thingToken}`
  const command = `${credential} exec ${process.execPath} ${process.cwd()}/dist/cli/main.js ${args}`
  return new Program({ command: 'script', debianPackage: 'bsdutils' }, ['-qefc', command, '/dev/null'])
}

describe('a described resource', () => {
  it('is read by people with unit and decimals, and by programs as it is stored', async () => {
    const server = await serverOfTest()
    const thing = await createThing(server)
    const datetime = '2026-01-02T03:04:05.000Z'
    const values = [
      ...[9.25, 10.5].map(value => ({ key: 'depth', value, datetime })),
      { key: 'state', value: 'on', datetime },
      { key: 'energy', value: 1234567.891, datetime },
      {
        key: '$meta',
        value: {
          ...{ depth: { unit: 'm', decimals: 1 }, energy: { unit: 'kWh', decimals: 2 } },
          state: { unit: 'x', decimals: 2 },
        },
      },
    ]
    await write(server, thing, { values })
    const setup = { server, environment: { THINGWIRE_TOKEN: thing.thingToken } }
    await expect
      .poll(() => jsonOf(['describe'], setup))
      .toMatchObject({ descriptions: { state: { unit: 'x' } } })
    const lines = async (args: string) => {
      const { output } = await onTerminal(server, thing, args).exited
      return output.split(/\r?\n/).map(line => line.replace(/ +/g, ' '))
    }
    expect(await lines('read depth')).toEqual(
      expect.arrayContaining([`${datetime} 10.5 m`, `${datetime} 9.3 m`]),
    )
    expect(await lines('read')).toEqual(
      expect.arrayContaining([`depth ${datetime} 10.5 m`, `state ${datetime} on`]),
    )
    const interval = '--aggregate avg,count,last --interval 1d'
    expect(await lines(`read depth ${interval}`)).toContain('2026-01-02T00:00:00.000Z 9.9 m 2 10.5 m')
    expect(await lines(`read depth,state ${interval}`)).toEqual(
      expect.arrayContaining([
        'depth 2026-01-02T00:00:00.000Z 9.9 m 2 10.5 m',
        'state 2026-01-02T00:00:00.000Z 1 on',
      ]),
    )
    expect((await lines('read depth --sparkline'))[1]).toMatch(/, 9\.9 m to 9\.9 m$/)
    expect((await lines('read energy --sparkline'))[1]).toMatch(/, 1234567\.89 kWh to 1234567\.89 kWh$/)
    for (const [form, expected] of [
      ['--csv', `${datetime},9.25,,\r\n`],
      ['--ndjson', `{"key":"depth","value":9.25,"datetime":"${datetime}"}\n`],
      ['--json', `{"key":"depth","value":9.25,"datetime":"${datetime}"}]\n`],
    ] as const) {
      const { stdout } = await runCommand(['read', 'depth', form], setup)
      expect(stdout.endsWith(expected)).toBe(true)
    }
  })
})

describe('a position without a value', () => {
  it('is shown as a position by read and tail on a terminal, and stays null in JSON', async () => {
    const server = await serverOfTest()
    const thing = await createThing(server)
    const values = [{ key: 'fix', value: null, geo: { lat: 60, long: 23 } }]
    await write(server, thing, { values })
    expect((await onTerminal(server, thing, 'read fix').exited).output).toMatch(/Z +60 +23\s*$/)
    const tail = onTerminal(server, thing, 'tail')
    await tail.said(/^watching /m)
    await write(server, thing, { values })
    await tail.said(/Z {2}fix {17,}at 60, 23\r?$/m)
    const asJson = await runCommand(['read', thing.thingId, 'fix', '--limit', '1', '--json'], { server })
    expect(JSON.parse(asJson.stdout)).toMatchObject(values)
  })
})

describe('thingwire tail', () => {
  it('shows what comes in, and after a restart of the server what it has missed', async () => {
    const dataDir = await temporaryDirectory()
    const first = await serverOfTest({ dataDir })
    const thing = await createThing(first)
    const tail = startCommand(['tail', thing.thingId, 'n'], { server: first })
    await tail.told(/^watching /m)
    await write(first, thing, { values: [{ key: 'other', value: 0 }] })
    await write(first, thing, { values: [{ key: 'n', value: 1 }] })
    await tail.said(/"value":1,/)
    await first.kill()
    await tail.told(/again in \d+ s/)
    const { port } = new URL(first.url)
    const second = await serverOfTest({ dataDir, args: ['--http-port', port] })
    // Maybe before the stream is there again, maybe not: it must not matter.
    await write(second, thing, { values: [{ key: 'n', value: 2 }] })
    await tail.said(/"value":2,/)
    await tail.told(/^connected again$/m)
    await write(second, thing, { values: [{ key: 'n', value: 3 }] })
    await tail.said(/"value":3,/)
    tail.process.kill('SIGINT')
    const { stdout } = await tail.ended
    const values = stdout
      .trimEnd()
      .split('\n')
      .map(line => (JSON.parse(line) as { value: number }).value)
    expect(values).toEqual([1, 2, 3])
  })
})
