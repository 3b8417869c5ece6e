import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createThing, readAll } from '../helpers/http-client.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

const feed =
  'created_at,entry_id,,field1\n2026-11-20 09:30:00 UTC,1,x,"21,5"\n2026-11-20 09:31:00 UTC,2,y,"21,6"\n'

/** A file in a directory of its own. */
async function fileOf(content: string | Uint8Array, name = 'feed.csv') {
  const directory = await temporaryDirectory()
  const file = join(directory, name)
  await writeFile(file, content)
  return { file, environment: { XDG_STATE_HOME: join(directory, 'state') } }
}

describe('thingwire write --file', () => {
  let server: Served
  beforeAll(async () => {
    server = await serve()
    return server.end
  })

  async function write(content: string | Uint8Array, args: readonly string[] = [], name?: string) {
    const { file, environment } = await fileOf(content, name)
    const thing = await createThing(server)
    const run = await runCommand(['write', thing.thingId, '--file', file, ...args], { server, environment })
    const listed = await fetch(`${server.url}/v2/things/${thing.thingToken}/all_resources?limit=10`)
    const resources = listed.ok
      ? ((await listed.json()) as { key: string; values: { datetime: string }[] }[])
      : []
    const times = resources.flatMap(({ values }) => values.map(({ datetime }) => datetime))
    return { ...run, thing, keys: resources.map(({ key }) => key).sort(), times }
  }

  it('says what each column is and shows the first records before it writes them', async () => {
    const { code, stderr, keys } = await write(feed, ['--decimal', ','])
    expect({ code, keys }).toEqual({ code: 0, keys: ['entry_id', 'field1'] })
    expect(stderr.split('\n').slice(0, 7)).toEqual([
      'time      created_at',
      'position  none',
      'keys      entry_id, field1',
      'left out  "column 3 without a name"',
      'first     {"key":"entry_id","value":1,"datetime":"2026-11-20T09:30:00.000Z"}',
      '          {"key":"field1","value":21.5,"datetime":"2026-11-20T09:30:00.000Z"}',
      '          {"key":"entry_id","value":2,"datetime":"2026-11-20T09:31:00.000Z"}',
    ])
  })

  it('shows the only record of a file once', async () => {
    const { stderr } = await write('time,n\n2026-11-20T09:30:00Z,1\n')
    expect(stderr.match(/"key":"n"/g)).toHaveLength(1)
  })

  it('stores nothing of a file whose times would be wrong, and all of it with the options that the error names', async () => {
    const hours = 'date,hour,temp\n2026-06-30,0,12.1\n2026-06-30,1,12.0\n'
    const zoneless = await write(hours)
    expect({ code: zoneless.code, keys: zoneless.keys }).toEqual({ code: 1, keys: [] })
    expect(zoneless.stderr).toMatch(/line 2: .* names no zone: .*--tz/)
    const refused = await write(hours, ['--tz', 'Europe/Paris'])
    expect({ code: refused.code, keys: refused.keys }).toEqual({ code: 1, keys: [] })
    expect(refused.stderr).toMatch(/line 3: .* two rows of hour.*--time-column.*--time-unit/)
    const read = await write(hours, ['--time-column', 'hour', '--time-unit', '1h', '--tz', 'Europe/Paris'])
    expect(read).toMatchObject({ code: 0, keys: ['temp'] })
    expect(read.stderr).toContain('time      date, hour (Europe/Paris)')
    expect(read.times).toEqual(['2026-06-29T23:00:00.000Z', '2026-06-29T22:00:00.000Z'])
  })

  it('stores an integer that no 64-bit float holds as text, from wherever it comes', async () => {
    const number = '8949212345678901234'
    const time = '2026-11-20T09:30:00Z'
    const note = /^thingwire: note: n: .*stored as text.*a 64-bit float would change it$/m
    for (const { code, stderr, thing } of [
      await write(`time,n\n${time},"{""x"":${number}}"\n`),
      await write(`{"key":"n","value":{"x":${number}},"datetime":"${time}"}`, [], 'lines.ndjson'),
    ]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(note) })
      expect((await readAll(server, thing, 'n')).map(({ value }) => value)).toEqual([{ x: number }])
    }
    const thing = await createThing(server)
    const argument = await runCommand(['write', thing.thingId, `n=${number}`], { server })
    expect(argument).toMatchObject({ code: 0, stderr: expect.stringMatching(note) })
    expect((await readAll(server, thing, 'n')).map(({ value }) => value)).toEqual([number])
  })

  it('refuses a number too large for a 64-bit float, from wherever it comes', async () => {
    const time = '2026-11-20T09:30:00Z'
    for (const run of [
      await write(`time,lat,lon,n,m\n${time},60,23,1e+400,1\n${time},60,23,1,1\n`),
      await write(`time,n\n${time},"{""x"":1e+400}"\n`),
      await write(`{"key":"n","value":{"x":1e+400},"datetime":"${time}"}`, [], 'lines.ndjson'),
    ]) {
      expect({ code: run.code, keys: run.keys }).toEqual({ code: 1, keys: [] })
      expect(run.stderr).toMatch(/line [12]: .*number_out_of_range/)
    }
    const thing = await createThing(server)
    const argument = await runCommand(['write', thing.thingId, 'b={"x":1e+400}'], { server })
    expect(argument).toMatchObject({ code: 2, stderr: expect.stringContaining('number_out_of_range') })
  })

  it('refuses a line of JSON with a member twice', async () => {
    const line = '{"key":"n","value":1,"value":2,"datetime":"2026-11-20T09:30:00Z"}\n'
    const { code, stderr, keys } = await write(line, [], 'lines.ndjson')
    expect({ code, keys }).toEqual({ code: 1, keys: [] })
    expect(stderr).toMatch(/line 1: the member "value" appears twice in one object/)
  })

  it('notes texts that look like numbers, once for each key', async () => {
    const { code, stderr, thing } = await write(feed)
    expect(code).toBe(0)
    expect(stderr.match(/^thingwire: note: .*$/gm)).toEqual([
      expect.stringMatching(/note: field1: 2 values stored as text, the first on line 2: 21,5;/),
      expect.stringMatching(
        /note: these records are stored; to correct them, remove them first \(thingwire remove\)/,
      ),
    ])
    expect((await readAll(server, thing, 'field1')).map(({ value }) => value)).toEqual(['21,6', '21,5'])
  })

  // No way in which the time of a file may become that of its import.
  it.each([
    ['when,T\n11/20/2026 09:30,1\n', 'a.csv', 2],
    ['moment;T\n;1\n', 'a.csv', 2],
    ['T\n1\n', 'a.csv', 2],
    ['a\tb\n1\t2\n', 'a.tsv', 2],
    ['time,T\n,1\n', 'a.csv', 1],
    ['time,T\n1795167000,1\n', 'a.csv', 1],
    ['time,T\n09:30,1\n', 'a.csv', 1],
    ['time,T\n11/20/2026 09:30,1\n', 'a.csv', 1],
    ['created_at,updated_at,T\n2026-11-20T09:30:00Z,2026-11-20T09:30:00Z,1\n', 'a.csv', 2],
    ['{"key":"T","value":1}\n', 'a.ndjson', 1],
    ['{"key":"T","value":1,"when":1795167000}\n', 'a.ndjson', 1],
    ['{"key":"T","value":1,"ts":1795167000}\n', 'a.ndjson', 1],
    ['{"Time":"2026-11-20T09:30:00Z","T":1}\n', 'a.ndjson', 1],
    ['{"values":[{"key":"T","value":1}]}\n', 'a.ndjson', 1],
    ['[{"key":"T","value":1}]\n', 'a.ndjson', 1],
  ])('writes nothing of %j without a time that is known', async (content, name, status) => {
    const { code, stdout, keys } = await write(content, [], name)
    expect({ code, stdout, keys }).toEqual({ code: status, stdout: '', keys: [] })
    const partial = await write(content, ['--partial'], name)
    expect(partial.code).toBe(status)
    expect(partial.keys).toEqual([])
  })

  it.each([
    ['T\n1\n', ['--now'], 'a.csv'],
    ['{"key":"T","value":1}\n', ['--now'], 'a.ndjson'],
  ])('gives records of %j the time of their receipt with --now', async (content, args, name) => {
    const { code, times } = await write(content, args, name)
    expect(code).toBe(0)
    expect(times.map(time => Date.now() - Date.parse(time) < 600_000)).toEqual([true])
  })

  it.each([
    ['when,T\n2026-11-20 09:30,1\n', ['--tz', 'UTC']],
    ['from,to,T\n2026-11-20 09:30,2026-11-20 09:31,1\n', ['--time-column', 'from', '--tz', 'UTC']],
    ['stamp,T\n1795167000,1\n', ['--time-column', 'Stamp', '--time-unit', 's']],
    ['Uhrzeit;T\n11:30;1\n', ['--date', '2026-11-20', '--tz', 'Europe/Athens']],
    ['Datum;Uhrzeit;T\n20.11.2026;09:30;1\n', ['--tz', 'UTC']],
    ['sep=;\nTime;T\n2026-11-20 11:30:00 +0200;1\n', []],
    [
      'created_at,updated_at,T\n2026-11-20T09:30:00Z,2026-11-21T09:30:00Z,1\n',
      ['--time-column', 'created_at'],
    ],
    ['T,day,time\n1,x,2026-11-20T09:30:00Z\n', []],
  ])('stores %j at its own time', async (content, args) => {
    const { code, keys, times } = await write(content, args)
    expect(code).toBe(0)
    expect(keys).toContain('T')
    expect(new Set(times)).toEqual(new Set(['2026-11-20T09:30:00.000Z']))
  })

  it('writes nothing of a file that its last rows show to be without times of day', async () => {
    const day = (place: number) => new Date(Date.UTC(2024, 0, 1 + place)).toISOString().slice(0, 10)
    const rows = [1, 2].flatMap(hour =>
      Array.from({ length: 600 }, (_, place) => `${day(place)},${hour},${place}\n`),
    )
    const { code, stderr, keys } = await write(`date,HE,T\n${rows.join('')}`, ['--tz', 'UTC'])
    expect({ code, keys }).toEqual({ code: 1, keys: [] })
    expect(stderr).toMatch(/^thingwire: line 602: 2024-01-01T00:00:00.000Z is the time of two rows of HE/m)
  })

  it('writes nothing of a file whose times may be of several days', async () => {
    const { code, stderr, keys } = await write('time,v\n08:00,1\n18:00,2\n08:00,3\n18:00,4\n08:00,5\n', [
      ...['--date', '2026-06-30', '--tz', 'UTC'],
    ])
    expect({ code, keys }).toEqual({ code: 1, keys: [] })
    expect(stderr).toMatch(/^thingwire: line 4: the time goes back from 18:00 to 08:00.*add a column date/m)
  })

  it('stores the position of a tracker', async () => {
    const { code, keys, thing } = await write(
      'id,timestamp,latitude,longitude\n1,2026-11-20T09:30:00Z,60.1,23.5\n',
    )
    expect({ code, keys }).toEqual({ code: 0, keys: ['$geo', 'id'] })
    const [id] = await readAll(server, thing, 'id')
    expect(id).toMatchObject({ geo: { lat: 60.1, long: 23.5 } })
  })

  it('stores nothing twice of a file whose times it had to read', async () => {
    const { file, environment } = await fileOf('Datum;Uhrzeit;T\n20.11.2026;09:30;1\n20.11.2026;09:31;2\n')
    const thing = await createThing(server)
    for (const _ of [1, 2]) {
      const args = ['write', thing.thingId, '--file', file, '--tz', 'UTC']
      expect(await runCommand(args, { server, environment })).toMatchObject({ code: 0 })
    }
    expect(await readAll(server, thing, 'T')).toHaveLength(2)
  })

  it.each([
    [['--time-unit', 'h'], /--time-unit must be s, ms, us or ns/],
    [['--decimal', ';'], /--decimal must be , or \./],
    [['--date', '11/20/2026'], /--date must be a day such as/],
    [['--geo-columns', 'lat'], /--geo-columns must be two names/],
    [['--time-column', 'none'], /--time-column: there is no column none/],
    [['--format', 'xml'], /--format must be/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await write(feed, args)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  it.each([
    [['--now'], /--now is only for a file/],
    [['--time-column', 'a'], /--time-column is only for a file/],
    [['--dry-run'], /--dry-run is only for a file/],
    [['--decimal', ','], /--decimal is only for a file/],
  ])('refuses %j with readings on the command line', async (args, message) => {
    const { code, stderr } = await runCommand(['write', 'boat', 'n=1', ...args], { server })
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  it.each([
    [['boat', 'de pth=1'], /"de pth" in de pth=1 is not a key/],
    [['de pth=1'], /"de pth" in de pth=1 is not a key/],
    [
      ['boat', 'temperature='],
      /temperature has no value; to write an empty text on purpose, write 'temperature=""'/,
    ],
    [['temperature='], /temperature has no value/],
    [['t=1', 't=2'], /t is given twice, and both values would get the same time/],
    [['boat', 'a=1', 't=1', 't=1', '--datetime', '2026-11-20T09:30:00Z'], /t is given twice/],
    [['boat', 'b={"x":1,"x":2}'], /the member "x" appears twice/],
  ])('says of %j what is wrong', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['write', ...args], { server })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})

describe('thingwire write --file --dry-run', () => {
  it('needs no server and no thing, and says all that would be read', async () => {
    const { file, environment } = await fileOf(feed)
    const { code, stdout, stderr } = await runCommand(['write', 'boat', '--file', file, '--dry-run'], {
      server: { url: 'http://127.0.0.1:2' },
      environment,
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      'time      created_at',
      'position  none',
      'keys      entry_id, field1',
      'left out  "column 3 without a name"',
      'first     {"key":"entry_id","value":1,"datetime":"2026-11-20T09:30:00.000Z"}',
      '          {"key":"field1","value":"21,5","datetime":"2026-11-20T09:30:00.000Z"}',
      '          {"key":"entry_id","value":2,"datetime":"2026-11-20T09:31:00.000Z"}',
      expect.stringMatching(/^note {6}field1: 2 values stored as text, the first on line 2: 21,5;/),
      '4 records of feed.csv would be written',
      '',
    ])
    expect(await readdir(join(file, '..'))).toEqual(['feed.csv'])
  })

  it('shows position, times and keys of one record a row, and takes stdin', async () => {
    const input = 'Date;Time;Lat;Lon;Metric;Value;Unit\n20.11.2026;09:30;60,5;23,5;T;21,5;C\n'
    const { code, stdout } = await runCommand(
      ['write', '--dry-run', '--format', 'csv', '--decimal', ',', '--tz', 'UTC'],
      { input },
    )
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([
      'time      Date, Time (UTC)',
      'position  Lat, Lon',
      'keys      from Metric, value from Value',
      'left out  Unit',
      'zone      UTC, +00:00 at the first record',
      'first     {"key":"T","value":21.5,"geo":{"lat":60.5,"long":23.5},"datetime":"2026-11-20T09:30:00.000Z"}',
      '1 record of stdin would be written',
      '',
    ])
  })

  it('ends with status 1 and the lines that cannot be read', async () => {
    const { file } = await fileOf('time,T\n2026-11-20T09:30:00Z,1\nnoon,2\n5 pm,3\n,4\n')
    const { code, stdout, stderr } = await runCommand(['write', '--file', file, '--dry-run'])
    expect(code).toBe(1)
    expect(stdout).toContain('1 record of feed.csv would be written')
    expect(stderr.split('\n')).toEqual([
      'thingwire: 3 lines of feed.csv cannot be read',
      '  lines 3 to 4, the first: datetime: "noon" cannot be read as a time: write it as 2026-11-21T09:30:00Z (column time)',
      expect.stringMatching(/^ {2}line 5: datetime: there is no time/),
      '',
    ])
  })

  it.each([
    ['CET', '2026-06-30', 'zone      CET, +02:00 at the first record'],
    ['America/St_Johns', '2026-01-30', 'zone      America/St_Johns, -03:30 at the first record'],
    ['+02:00', '2026-06-30', undefined],
  ])('shows how far the zone %s is from UTC on %s', async (tz, day, line) => {
    const { stdout } = await runCommand(['write', '--dry-run', '--format', 'csv', '--tz', tz], {
      input: `time,T\n${day} 09:30,1\n`,
    })
    expect(stdout.split('\n').find(each => each.startsWith('zone'))).toBe(line)
  })

  it('shows the begin of a record that is long', async () => {
    const input = `time,T\n2026-11-20T09:30:00Z,${'x'.repeat(10_000)}\n`
    const { code, stdout } = await runCommand(['write', '--dry-run', '--format', 'csv'], { input })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^first {5}\{"key":"T","value":"x+…$/m)
    expect(stdout.length).toBeLessThan(1_000)
  })

  it('--json is one document', async () => {
    const { file } = await fileOf(feed)
    const { code, stdout } = await runCommand(['write', '--file', file, '--dry-run', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      records: 4,
      refused: 0,
      columns: [{ time: ['created_at'], position: [], keys: ['entry_id', 'field1'] }],
      first: [{ key: 'entry_id' }, { key: 'field1' }, {}],
      notes: [expect.stringContaining('field1')],
    })
  })
})
