import { beforeAll, describe, expect, it } from 'vitest'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { jsonOf, runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

describe('thingwire describe', () => {
  let server: Served
  let thing: Thing
  beforeAll(async () => {
    server = await serve()
    thing = await createThing(server)
    await write(server, thing, { values: [{ key: 'depth', value: 9.25 }] })
    return server.end
  })

  it('sets, shows and removes what it is given, with the admin key or the token of the thing', async () => {
    const { thingId } = thing
    const own = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: thing.thingToken } }
    const shown = async () =>
      (await jsonOf<{ descriptions: object }>(['describe', thingId], { server })).descriptions
    const none = await runCommand(['describe', thingId], { server })
    expect(none).toMatchObject({ code: 0, stdout: `${thingId} has no descriptions yet\n`, stderr: '' })

    const set = ['--name', 'Depth under keel', '--unit', 'm', '--kind', 'distance', '--total', 'false']
    const args = ['describe', thingId, 'depth', ...set, '--decimals', '1', '--hidden', 'true']
    const depth = {
      ...{ name: 'Depth under keel', unit: 'm', kind: 'distance', total: false },
      ...{ decimals: 1, hidden: true },
    }
    expect(await jsonOf(args, { server })).toEqual({ thingId, key: 'depth', patch: depth })
    await expect.poll(shown).toEqual({ depth })
    const found = { speed: { unit: 'kn', name: 'Log', discovered: ['unit', 'name'] } }
    await write(server, thing, { values: [{ key: '$meta', value: found }] })
    await expect.poll(shown).toHaveProperty('speed')
    const { stdout } = await runCommand(['describe'], own)
    expect(stdout.split('\n').map(line => line.replace(/ {2,}/g, '|'))).toEqual([
      'KEY|NAME|UNIT|KIND|TOTAL|DECIMALS|HIDDEN|DISCOVERED',
      'depth|Depth under keel|m|distance|false|1|true',
      'speed|Log|kn|name, unit',
      '',
    ])
    expect(await jsonOf(['describe', 'speed'], own)).toMatchObject({
      descriptions: { speed: { unit: 'kn', discovered: ['name', 'unit'] } },
    })

    const changed = ['--unit', '', '--total', '', '--decimals', '', '--name', 'Depth']
    expect(await runCommand(['describe', thingId, 'depth', ...changed], { server })).toMatchObject({
      stdout: `depth of ${thingId}: described\n`,
    })
    await expect.poll(shown).toMatchObject({ depth: { name: 'Depth', kind: 'distance', hidden: true } })
    expect(await shown()).not.toHaveProperty('depth.unit')
    expect(await runCommand(['describe', thingId, 'depth', '--remove'], own)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/: the description is removed\n$/),
    })
    await expect.poll(shown).toEqual({ speed: { name: 'Log', unit: 'kn', discovered: ['name', 'unit'] } })
  })

  it('notes that a key has no record yet', async () => {
    const { code, stderr } = await runCommand(['describe', thing.thingId, 'dephth', '--unit', 'm'], {
      server,
    })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^thingwire: note: no record of dephth yet: the thing has .*depth/),
    })
  })

  it.each([
    [['--unit', 'm'], 2, /give the key of the resource: thingwire describe <thing> <key> --unit/],
    [['depth', '--total', 'yes'], 2, /--total must be true or false, but it is yes/],
    [['depth', '--hidden', '1'], 2, /--hidden must be true or false, but it is 1/],
    [['depth', '--decimals', '11'], 2, /--decimals must be a whole number from 0 to 10, but it is 11/],
    [['depth', '--decimals', '1.5'], 2, /--decimals must be a whole number from 0 to 10, but it is 1\.5/],
    [['depth', '--remove', '--unit', 'm'], 2, /--remove cannot be combined/],
    [['depth', '--unit', 'x'.repeat(33)], 1, /unit must be a text of 1 to 32 characters.*invalid_meta/],
    [['$geo', '--name', 'Position'], 1, /must be keys of ordinary resources.*invalid_meta/],
  ])('refuses %j', async (args, code, message) => {
    const refused = await runCommand(['describe', thing.thingId, ...args], { server })
    expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) })
  })
})
