import { execFile } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createThing, readAll, type ServerAddress, write } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { jsonOf, runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

describe('thingwire export and import', () => {
  let server: Served
  beforeAll(async () => {
    server = await serve()
    return server.end
  })

  it('carry things to another server, with settings, position and history, and nothing twice', async () => {
    const boat = await jsonOf<{ thingId: string; thingToken: string }>(['things', 'create', 'boat'], {
      server,
    })
    const unnamed = await createThing(server)
    const values = Array.from({ length: 1_500 }, (_, value) => ({
      key: 'n',
      value,
      geo: { lat: 60, long: 23 },
    }))
    await write(server, boat, { values })
    await write(server, boat, { values: [{ key: '$geo', value: [23.5, 60.1] }] })
    await write(server, boat, { values: [{ key: '$settings', value: { a: { b: 1, c: 2 }, d: 3 } }] })
    await write(server, boat, { values: [{ key: '$settings.a.b', value: null }] })
    await write(server, boat, { values: [{ key: '$settings.e', value: { f: [1] } }] })
    await write(server, unnamed, { values: [{ key: 'n', value: 'alone' }] })
    const found = { m: { name: 'Probe', unit: 'V', discovered: ['name', 'unit'] } }
    await write(server, unnamed, { values: [{ key: '$meta', value: found }] })
    // In the order of these times the name would be that of a person.
    for (const [value, datetime] of [
      [{ n: { name: 'Count', kind: 'x' }, gone: { unit: 'A' } }, '20260102030405'],
      [{ n: { name: null }, gone: null }, '20260102030404'],
      [{ n: { name: 'Probe', unit: '1', discovered: ['name', 'unit'] } }, '20260102030403'],
    ])
      await write(server, boat, { values: [{ key: '$meta', value, datetime }] })
    const described = { n: { kind: 'x', name: 'Probe', unit: '1', discovered: ['name', 'unit'] } }
    const stateOf = async (from: ServerAddress, thingId: string, key: string) => {
      const headers = { authorization: from.adminKey }
      const path = `${from.url}/v2/things/${thingId}/resources/${key}`
      const [state] = (await (await fetch(path, { headers })).json()) as { value: unknown }[]
      return state?.value
    }
    await expect.poll(() => stateOf(server, boat.thingId, '$settings')).toMatchObject({ e: { f: [1] } })
    await expect.poll(() => stateOf(server, boat.thingId, '$meta')).toEqual(described)
    await expect.poll(() => stateOf(server, unnamed.thingId, '$meta')).toEqual(found)

    const directory = await temporaryDirectory()
    const environment = { XDG_STATE_HOME: join(directory, 'state') }
    const file = join(directory, 'all.ndjson')
    const exported = await runCommand(['export', '--all', '--output', file, '--json'], { server })
    expect(exported).toMatchObject({ code: 0 })
    expect(JSON.parse(exported.stderr)).toMatchObject({ resources: 6, things: 2 })
    expect((await readFile(file, 'utf8')).match(/"key":"n"/g)).toHaveLength(1_501)

    const other = await serverOfTest()
    const setup = { server: other, environment }
    expect(await jsonOf(['import', file], setup)).toMatchObject({ resources: 6, thingsMade: 2 })
    const again = await runCommand(['import', file, '--json'], setup)
    expect(JSON.parse(again.stdout)).toMatchObject({ resources: 6, thingsMade: 0 })
    expect(again.stderr).toMatch(
      new RegExp(
        `^thingwire: note: boat \\(${boat.thingId}\\) goes into \\w{16}, which has the same name$`,
        'm',
      ),
    )
    const { things } = await jsonOf<{ things: { thingId: string; position?: object }[] }>(
      ['things', 'list', '--name', 'boat'],
      setup,
    )
    const [copy] = things
    expect(copy?.position).toEqual({ lat: 60.1, long: 23.5 })
    const ref = { thingId: copy?.thingId ?? '', thingToken: copy?.thingId ?? '' }
    const headers = { authorization: other.adminKey, accept: 'application/x-ndjson' }
    const copied = await fetch(`${other.url}/v2/things/${ref.thingId}/resources/n`, { headers })
    const lines = (await copied.text())
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as unknown)
    expect(lines).toEqual(await readAll(server, boat, 'n'))
    await expect
      .poll(() => stateOf(other, ref.thingId, '$settings'))
      .toEqual({ a: { c: 2 }, d: 3, e: { f: [1] } })
    await expect.poll(() => stateOf(other, ref.thingId, '$meta')).toEqual(described)
    const all = await jsonOf<{ things: { thingId: string }[] }>(['things', 'list'], setup)
    const alone = all.things.find(({ thingId }) => thingId !== ref.thingId)?.thingId ?? ''
    await expect.poll(() => stateOf(other, alone, '$meta')).toEqual(found)
  })

  it('import names a line that is none of an export', async () => {
    const directory = await temporaryDirectory()
    const file = join(directory, 'not.ndjson')
    const environment = { XDG_STATE_HOME: directory }
    for (const line of [
      '{"key":"n","value":1}',
      '{"thingId":"abcdefgh234567ab","name":"boat","key":"n","value":1}',
      '{"thingId":"abcdefgh234567ab","name":"boat","key":"n","value":1,"datetime":null}',
      '[]',
      'n=1',
      '{"thingId":"abcdefgh234567ab","name":"boat","key":"n","value":[1e400],"datetime":"2026-11-20T09:30:00Z"}',
    ]) {
      await writeFile(file, `${line}\n`)
      const { code, stderr } = await runCommand(['import', file], { server, environment })
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /line 1(?: is not a line of an export|: .*number_out_of_range)|the file is a JSON array/,
      )
    }
  })
})

describe('thingwire backup, restore and check', () => {
  it('copy a running server, make a store of it, and find no fault in it', async () => {
    const dataDir = await temporaryDirectory()
    const server = await serverOfTest({ dataDir })
    const thing = await createThing(server)
    await write(server, thing, { values: [{ key: 'n', value: 1 }] })
    const directory = await temporaryDirectory()
    const file = join(directory, 'all.backup')
    expect(await jsonOf(['backup', file], { server })).toMatchObject({ file })
    expect((await stat(file)).mode & 0o077).toBe(0)
    const both = await Promise.all([1, 2].map(() => runCommand(['backup', file], { server })))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(await readdir(directory)).toEqual(['all.backup'])
    const held = await runCommand(['check', '--data-dir', dataDir])
    expect(held).toMatchObject({ code: 1, stdout: '' })
    const restored = join(directory, 'restored')
    expect(await runCommand(['restore', file, '--data-dir', restored])).toMatchObject({ code: 0 })
    expect(await jsonOf(['check', '--data-dir', restored])).toMatchObject({
      records: 1,
      things: 1,
      faultCount: 0,
    })
    expect(await runCommand(['import', file], { server })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is a backup of a store, which thingwire restore reads/),
    })
    const exported = join(directory, 'all.ndjson')
    expect(await runCommand(['export', '--all', '--output', exported], { server })).toMatchObject({ code: 0 })
    const onStdout = await runCommand(['export', '--all', '--output', '-'], { server })
    expect(onStdout).toMatchObject({ code: 0, stdout: await readFile(exported, 'utf8') })
    const fifo = join(directory, 'fifo')
    await promisify(execFile)('mkfifo', [fifo])
    const cases = [
      [
        ['restore', exported, '--data-dir', join(directory, 'of-export')],
        1,
        /is an export; use thingwire import to read it/,
      ],
      [['backup', '-'], 2, /- is not a file name/],
      [['backup', fifo], 2, /is a pipe or a device/],
      [['export', '--all', '--output', fifo], 2, /is a pipe or a device/],
      [['restore', '-', '--data-dir', join(directory, 'of-stdin')], 2, /reads a file, not stdin/],
      [['import', '-'], 2, /reads a file, not stdin/],
      [['restore', file, '--data-dir', '-'], 1, /--data-dir must be a path, not -/],
      [['serve', '--data-dir', '-'], 1, /--data-dir must be a path, not -/],
      [['check', '--data-dir', '-'], 1, /--data-dir must be a path, not -/],
      [['check', '--config', '-'], 1, /cannot read the configuration file -/],
      [
        ['forward', '--to', 'mqtt://192.0.2.1', '--things', '-', '--data-dir', directory],
        1,
        /cannot read the thing map -/,
      ],
    ] as const
    for (const [args, status, text] of cases) {
      const { code, stdout, stderr } = await runCommand(args, { server })
      expect({ args, code, stdout, stderr }).toEqual({
        ...{ args, code: status, stdout: '' },
        stderr: expect.stringMatching(text),
      })
    }
    const ontoDirectory = await runCommand(['backup', directory], { server })
    expect(ontoDirectory).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is a directory: give the name of a file/),
    })
    const withinFile = await runCommand(['restore', file, '--data-dir', join(file, 'data')])
    expect(withinFile).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot create the data directory .*--data-dir$/m),
    })
    const refused = await runCommand(['backup', join(directory, 'none')], {
      server: { url: server.url, adminKey: 'k'.repeat(32) },
    })
    expect(refused).toMatchObject({ code: 4 })
    await expect(stat(join(directory, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('a store and a data directory in the place of each other', () => {
  it('are refused with the path to give, and nothing is made', async () => {
    const dataDir = await temporaryDirectory()
    const server = await serverOfTest({ dataDir })
    await server.stop()
    const inside = join(dataDir, 'store')
    const names = await readdir(dataDir)
    await expect(createLevelStore({ location: dataDir }).open()).rejects.toThrow(
      `it is the data directory of a server, whose store is ${inside}: give ${inside}`,
    )
    expect(await readdir(dataDir)).toEqual(names)

    const embedded = await temporaryDirectory()
    const store = await openStore(createLevelStore({ location: embedded }))
    await store.close()
    const environment = { THINGWIRE_REDIS_URL: 'redis://127.0.0.1:1' }
    const ofProgram = /is itself a store, of a program that embeds Thingwire: stop that program and move/
    const ofServer = new RegExp(
      `is itself a store: the data directory is ${dataDir}(?: \\(--data-dir names|$)`,
      'm',
    )
    const cases = [
      [['serve', '--data-dir', embedded], {}, ofProgram],
      [['check', '--data-dir', embedded], {}, ofProgram],
      [['migrate', '--data-dir', embedded], { environment }, ofProgram],
      [['restore', 'package.json', '--data-dir', embedded], {}, /must be empty, but it contains /],
      [['serve', '--data-dir', inside], {}, ofServer],
      [['check', '--data-dir', inside], {}, ofServer],
      [['migrate', '--data-dir', inside], { environment }, ofServer],
    ] as const
    for (const [args, setup, text] of cases) {
      const { code, stderr } = await runCommand(args, setup)
      expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringMatching(text) })
    }
    expect(await readdir(embedded)).not.toContain('store')
    expect(await readdir(embedded)).not.toContain('admin-key')
  })
})
