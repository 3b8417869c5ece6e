import { beforeAll, describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { otherClock } from '../helpers/other-clock.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type CommandSetup, jsonOf, runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

interface Removed {
  readonly isDryRun: boolean
  readonly records: number
  readonly resources: readonly object[]
}

interface Finding {
  readonly check: string
  readonly isOk: boolean
  readonly text: string
  readonly advice?: string
}

const on = (day: number) => `2026-02-0${day}T00:00:00.000Z`

describe('thingwire remove', () => {
  let server: Served
  beforeAll(async () => {
    server = await serve()
    return server.end
  })

  /** `a` and `b` on three days, and settings: a document, and a path on each day. */
  async function boat(): Promise<Thing> {
    const thing = await createThing(server)
    const values = [1, 2, 3].flatMap(day =>
      ['a', 'b', '$settings.level'].map(key => ({ key, value: day, datetime: on(day) })),
    )
    const settings = { key: '$settings', value: { name: 'x' }, datetime: on(2) }
    const { status } = await write(server, thing, { values: [...values, settings] })
    expect(status).toBe(201)
    return thing
  }

  const read = async (thing: Thing, key: string) =>
    (await readAll(server, thing, key)).map(({ datetime }) => datetime)
  const remove = (args: readonly string[]) => jsonOf<Removed>(['remove', ...args], { server })
  const tokenOf = ({ thingToken }: Thing) => ({
    server: { url: server.url },
    environment: { THINGWIRE_TOKEN: thingToken },
  })

  it('removes the records of some keys in a range, the end not in it, and says how many', async () => {
    const thing = await boat()
    const { thingId } = thing
    const told = await runCommand(
      ['remove', thingId, 'a', 'b', '--from', '2026-02-02', '--to', '2026-02-03'],
      {
        server,
      },
    )
    expect(told).toMatchObject({ code: 0, stderr: '' })
    expect(told.stdout.split('\n')).toEqual([
      expect.stringMatching(/^THING +KEY +RECORDS$/),
      `${thingId}  a    1`,
      `${thingId}  b    1`,
      '2 records in 2 resources of 1 thing removed',
      '',
    ])
    expect([await read(thing, 'a'), await read(thing, 'b')]).toEqual([
      [on(3), on(1)],
      [on(3), on(1)],
    ])
    expect(await remove([thingId, 'a', 'a', '--to', '2026-02-02'])).toEqual({
      isDryRun: false,
      records: 1,
      resources: [{ thingId, key: 'a', records: 1 }],
    })
    expect(await read(thing, 'a')).toEqual([on(3)])
  })

  it('shows with --dry-run what would go, its first and its last, and removes nothing', async () => {
    const thing = await boat()
    const { thingId } = thing
    const dry = await remove([thingId, '--all-keys', '--from', '2026-02-02', '--dry-run'])
    expect(dry).toEqual({
      isDryRun: true,
      records: 7,
      resources: [
        // Of the settings the whole document, and the path.
        { thingId, key: '$settings', records: 3, first: on(2), last: on(3) },
        { thingId, key: 'a', records: 2, first: on(2), last: on(3) },
        { thingId, key: 'b', records: 2, first: on(2), last: on(3) },
      ],
    })
    const told = await runCommand(['remove', thingId, 'a', '--dry-run'], { server })
    expect(told.stdout).toContain(`${thingId}  a    3        ${on(1)}  ${on(3)}\n`)
    expect(told.stdout).toMatch(/^3 records in 1 resource of 1 thing would be removed$/m)
    expect(await read(thing, 'a')).toHaveLength(3)
    const really = await remove([thingId, '--all-keys', '--from', '2026-02-02'])
    expect(really.records).toBe(dry.records)
    expect([await read(thing, 'a'), await read(thing, '$settings.level')]).toEqual([[on(1)], [on(1)]])
  })

  it('removes a whole resource without a range, and the state of a magic one', async () => {
    const thing = await boat()
    expect(await remove([thing.thingId, '$settings', 'b'])).toMatchObject({ records: 7 })
    const { resources } = (await (
      await fetch(`${server.url}/v2/things/${thing.thingToken}/resources`)
    ).json()) as { resources: string[] }
    expect(resources).toEqual(['a'])
  })

  it('removes from a time on of all things, some keys or all', async () => {
    const things = [await boat(), await boat()]
    const from = ['--all-things', '--from', '2026-02-03']
    const dry = await remove([...from, '--all-keys', '--dry-run'])
    expect(dry.resources).toEqual(
      expect.arrayContaining(
        things.map(({ thingId }) => ({ thingId, key: 'a', records: 1, first: on(3), last: on(3) })),
      ),
    )
    await remove([...from, 'a'])
    for (const thing of things) {
      expect(await read(thing, 'a')).toEqual([on(2), on(1)])
      expect(await read(thing, 'b')).toHaveLength(3)
    }
    await remove([...from, '--all-keys'])
    for (const thing of things) expect(await read(thing, 'b')).toEqual([on(2), on(1)])
    expect(await remove([...from, '--all-keys'])).toMatchObject({ records: 0, resources: [] })
  })

  it('takes the name of a thing for a dry run alone', async () => {
    const { thingId } = await jsonOf<{ thingId: string }>(['things', 'create', 'ferry'], { server })
    await runCommand(['write', thingId, 'n=1'], { server })
    expect(await remove(['ferry', 'n', '--dry-run'])).toMatchObject({ records: 1 })
    expect(await runCommand(['remove', 'ferry', 'n'], { server })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`ferry is a name: remove records of the thing by its id, ${thingId}`),
    })
    expect(await remove([thingId, 'n'])).toMatchObject({ records: 1 })
  })

  it('removes nothing where it is not clear what', async () => {
    const thing = await boat()
    const { thingId } = thing
    const cases = [
      [[thingId], 2, /give the keys of the resources, or --all-keys/],
      [[thingId, 'a', '--all-keys'], 2, /give the keys of the resources, or --all-keys/],
      [[], 2, /give the keys/],
      [['--all-keys'], 2, /give the id or name of the thing/],
      [['--all-things', '--from', '2026-02-01'], 2, /give the keys/],
      [['--all-things', 'a'], 2, /--all-things needs --from or --to/],
      [['--all-things', '--all-keys'], 2, /--all-things needs --from or --to/],
      [[thingId, 'a', '--from', 'now'], 2, /--from must be a time/],
      [[thingId, 'a', '--from', '2026-02-02', '--to', '2026-02-01'], 2, /--from .* is later than --to/],
      [[thingId, 'a', '--from', '2026-02-02', '--to', '2026-02-02T00:00Z'], 2, /--to is exclusive/],
      [[thingId, 'a', 'depht'], 1, /there is no resource depht: nothing is removed/],
      [['--all-things', 'a', 'depht', '--from', '2026-02-01'], 1, /there is no resource depht/],
      [['abcdefgh234567ab', 'a'], 1, /unknown_thing/],
      [['nobody', 'a'], 1, /no thing is called nobody/],
      [[thing.thingToken, 'a'], 2, /do not put a token on the command line/],
    ] as const
    for (const [args, code, told] of cases) {
      const ended = await runCommand(['remove', ...args], { server })
      expect({ args, ...ended }).toMatchObject({
        args,
        code,
        stdout: '',
        stderr: expect.stringMatching(told),
      })
    }
    expect(await read(thing, 'a')).toHaveLength(3)
  })

  it('tells who may remove, and who may not', async () => {
    const thing = await boat()
    const { thingId } = thing
    const session = async (...flags: string[]) => {
      const args = ['sessions', 'create', thingId, ...flags]
      const { sessionToken } = await jsonOf<{ sessionToken: string }>(args, { server })
      return { server: { url: server.url }, environment: { THINGWIRE_TOKEN: sessionToken } }
    }
    const refused = [
      [['a'], tokenOf(thing)],
      [[thingId, 'a'], tokenOf(thing)],
      [['a'], { ...tokenOf(thing), environment: { THINGWIRE_TOKEN: 'unknown' } }],
      [[thingId, 'a'], await session()],
      [[thingId, 'a'], tokenOf(await createThing(server))],
    ] as const
    for (const [args, setup] of refused.slice(0, 4)) {
      expect(await runCommand(['remove', ...args], setup)).toMatchObject({ code: 4, stdout: '' })
    }
    expect((await runCommand(['remove', 'a'], tokenOf(thing))).stderr).toMatch(
      /the admin key and an operator's write session may, .*forbidden/,
    )
    // Its own records alone are what a token can mean: both operands are keys then.
    const [args, other] = refused[4]
    expect(await runCommand(['remove', ...args], other)).toMatchObject({ code: 1, stdout: '' })
    expect(await read(thing, 'a')).toHaveLength(3)
    expect(await jsonOf<Removed>(['remove', 'a', '--dry-run'], tokenOf(thing))).toMatchObject({ records: 3 })
    expect(
      await jsonOf<Removed>(['remove', thingId, 'a', '--to', '2026-02-03'], await session('--write')),
    ).toMatchObject({ records: 2 })
  })

  it('stops with exit status 3 where there is no server', async () => {
    const nowhere = { server: { url: 'http://127.0.0.1:2', adminKey: server.adminKey } }
    expect(await runCommand(['remove', 'abcdefgh234567ab', 'a'], nowhere)).toMatchObject({ code: 3 })
  })
})

/** What doctor has found of the future; other findings may be faults. */
async function future(args: readonly string[], setup: CommandSetup): Promise<Finding> {
  const { stdout } = await runCommand([...args, '--json'], setup)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  const finding = findings.find(({ check }) => check === 'future records')
  if (!finding) throw new Error(`nothing is said of the future: ${stdout}`)
  return finding
}

describe('thingwire remove and doctor, after a start with a clock that was ahead,', () => {
  it('find what lies in the future, and leave a store that takes readings again', async () => {
    const dataDir = await temporaryDirectory()
    const ahead = await startServer({ dataDir, environment: otherClock('+10y') })
    const thing = await createThing(ahead)
    const other = await createThing(ahead)
    const position = { key: '$geo', value: [23.5, 60] }
    for (const each of [thing, other]) {
      await write(ahead, each, { values: [{ key: 'n', value: 1 }, { key: 'm', value: 1 }, position] })
    }
    await ahead.stop()
    const server = await startServer({ dataDir })
    try {
      const now = { key: '$geo', value: [24, 61], datetime: on(1) }
      await write(server, thing, { values: [{ key: 'n', value: 2, datetime: on(1) }, now] })
      const setup = { server }
      const found = await future(['doctor'], setup)
      expect(found.text).toMatch(
        /^6 records in 6 resources of 2 things after 20\d\d-.*, the latest at 20\d\d-/,
      )
      const named = /: thingwire (remove --all-things --all-keys --from \S+) --dry-run$/.exec(
        found.advice ?? '',
      )
      const command = named?.[1] ?? ''
      const own = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: thing.thingToken } }
      expect(await future(['doctor'], own)).toMatchObject({
        text: expect.stringMatching(/^3 records in 3 resources of 1 thing after /),
        advice: expect.stringMatching(`the operator can see .* remove ${thing.thingId} --all-keys --from `),
      })
      const args = command.split(' ')
      expect(await jsonOf<Removed>([...args, '--dry-run'], setup)).toMatchObject({ records: 6 })
      expect(await jsonOf<Removed>(args, setup)).toMatchObject({ records: 6 })
      expect(await readAll(server, thing, 'n')).toMatchObject([{ value: 2, datetime: on(1) }])
      const state = await fetch(`${server.url}/v2/things/${thing.thingToken}/resources/$geo`)
      expect(await state.json()).toMatchObject([{ value: { coordinates: [24, 61] }, datetime: on(1) }])
      for (const each of [['doctor'], ['doctor', thing.thingId]]) {
        expect(await future(each, setup)).toMatchObject({
          isOk: true,
          text: 'no record is more than 24 h ahead',
        })
      }
    } finally {
      await server.stop()
    }
  })
})
