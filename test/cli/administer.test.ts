import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { onThisMachine, urlForBrowsers } from '../../src/server/reachable.ts'
import { createThing } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { jsonOf, runCommand } from './command.ts'
import { type Served, serve } from './serve.ts'

const thingIdForm = /^[a-z2-7]{16}$/
const tokenForm = /^[A-Za-z0-9_-]{43}$/

describe('thingwire, as the operator,', () => {
  let server: Served
  beforeAll(async () => {
    server = await serve()
    return server.end
  })

  it('makes, lists, renames and deletes things, with the admin key of the data directory', async () => {
    const own = { server: { url: server.url }, environment: { THINGWIRE_DATA_DIR: server.dataDir } }
    const made = await jsonOf<{ thingId: string }>(['things', 'create', 'ketch'], own)
    expect(made).toEqual({
      thingId: expect.stringMatching(thingIdForm),
      name: 'ketch',
      thingToken: expect.stringMatching(tokenForm),
    })
    const { thingId } = made
    expect(await jsonOf(['things', 'rename', 'ketch', 'yawl'], own)).toEqual({ thingId, name: 'yawl' })
    expect(await jsonOf(['things', 'list', '--name', 'yaw'], own)).toMatchObject({
      things: [{ thingId, name: 'yawl' }],
    })
    expect(await runCommand(['things', 'delete', 'yawl'], own)).toMatchObject({ code: 1 })
    expect(await jsonOf(['things', 'delete', thingId], own)).toEqual({ thingId })
    expect(await jsonOf(['things', 'list', '--name', 'yawl'], own)).toEqual({ things: [] })
  })

  it('warns that a name is taken, and makes the thing', async () => {
    const first = await runCommand(['things', 'create', 'dinghy', '--json'], { server })
    const { thingId } = JSON.parse(first.stdout) as { thingId: string }
    const second = await runCommand(['things', 'create', 'dinghy'], { server })
    expect([first, second]).toMatchObject([
      { code: 0, stderr: '' },
      { code: 0, stderr: expect.stringContaining(`dinghy is also the name of ${thingId}`) },
    ])
    expect(second.stdout).toMatch(/^token /m)
    expect(await runCommand(['things', 'create', 'ding'], { server })).toMatchObject({ stderr: '' })
    const renamed = await runCommand(['things', 'rename', 'ding', 'dinghy'], { server })
    expect(renamed).toMatchObject({ code: 0, stderr: expect.stringMatching(/dinghy is also the name of /) })
    const toItsOwn = await runCommand(['things', 'create', 'tender'], { server })
    expect(toItsOwn.code).toBe(0)
    const kept = await runCommand(['things', 'rename', 'tender', 'tender'], { server })
    expect(kept).toMatchObject({ code: 0, stderr: '' })
  })

  it('says of a refused credential where it is from, and of a token which thing it is of', async () => {
    const unknown = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: 'unknown' } }
    const refused = await runCommand(['write', 'n=1'], unknown)
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/; the credential is from THINGWIRE_TOKEN\n {2}thingwire doctor /),
    })
    const fullWidth = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: 'ｔｏｋｅｎ' } }
    expect(await runCommand(['write', 'n=1'], fullWidth)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('a token is 43 letters, digits, - and _'),
    })
    const { thingId, thingToken } = await jsonOf<Record<'thingId' | 'thingToken', string>>(
      ['things', 'create', 'hut'],
      { server },
    )
    const hut = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: thingToken } }
    const other = await runCommand(['write', 'boat', 'n=1'], hut)
    expect(other).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        `this token (from THINGWIRE_TOKEN) belongs to hut (${thingId}), not to boat`,
      ),
    })
  })

  it('says of a session of some things that it does not see the others, and where it is from', async () => {
    const { thingId } = await jsonOf<{ thingId: string }>(['things', 'create', 'punt'], { server })
    await jsonOf(['things', 'create', 'shed'], { server })
    const make = ['sessions', 'create', thingId, '--write']
    const { sessionToken } = await jsonOf<{ sessionToken: string }>(make, { server })
    const leftOver = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: sessionToken } }
    const cases = ['read shed n', 'export shed', 'tail shed', 'write shed n=1', 'remove shed n --dry-run']
    for (const line of cases) {
      const { code, stderr } = await runCommand(line.split(' '), leftOver)
      expect({ line, code, stderr }).toEqual({
        ...{ line, code: 4 },
        stderr: expect.stringMatching(/\(from THINGWIRE_TOKEN\) is a session that sees only certain things/),
      })
    }
    const doctor = await runCommand(['doctor', 'shed'], leftOver)
    expect(doctor.stdout).toMatch(/sees only certain things, and shed is not one of them/)
    const exported = await runCommand(['export', '--all'], leftOver)
    const note = /note: the credential \(from THINGWIRE_TOKEN\) can see only some things, not all/
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringMatching(note) })
    const listed = await runCommand(['things', 'list'], leftOver)
    expect(listed).toMatchObject({ code: 0, stderr: expect.stringMatching(note) })
    const removed = await runCommand(
      ['remove', '--all-things', '--all-keys', '--to', '2020-01-01', '--dry-run'],
      leftOver,
    )
    expect(removed).toMatchObject({ code: 0, stderr: expect.stringMatching(note) })
    expect((await runCommand(['export', '--all'], { server })).stderr).not.toMatch(/note/)
    const operator = await runCommand(['read', 'nothing', 'n'], { server })
    expect(operator.stderr).toMatch(/no thing is called nothing: thingwire things list shows them/)
  })

  it('names what a session that may only read lacks, and the key that an operator has', async () => {
    const { thingId, thingToken } = await createThing(server)
    const make = ['sessions', 'create', thingId]
    const { sessionId, sessionToken } = await jsonOf<Record<'sessionId' | 'sessionToken', string>>(make, {
      server,
    })
    const as = (token: string) => ({ server: { url: server.url }, environment: { THINGWIRE_TOKEN: token } })
    const refused = await runCommand(['write', thingId, 'n=1'], as(sessionToken))
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(
        new RegExp(`session ${sessionId} may only read: .*sessions create --write.* from THINGWIRE_TOKEN`),
      ),
    })
    const file = join(await temporaryDirectory(), 'thing.token')
    await writeFile(file, thingToken)
    const listed = await runCommand(['sessions', 'list', '--credential-file', file], as(sessionToken))
    expect(listed).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(
        /only the admin key may do this, but this is the token of a thing .* is from .*thing.token/,
      ),
    })
  })

  it.each([
    ['create boat', /Did you mean one of things create, sessions create, codes create\?/],
    ['rename a b', /Did you mean things rename\?/],
    ['tokens create boat', /\(tokens has the commands add, list, revoke\)/],
    ['raed boat', /Did you mean read\?/],
    ['demo --port 9000', /Did you mean one of --http-port, --mqtt-port\?/],
    ['read boat n --datadir x', /Did you mean --data-dir\?/],
    ['check --datadir x', /Did you mean --data-dir\?/],
    ['serve --port 9000', /Unknown option '--port' on the command line \(Did you mean one of .*--http-port/],
    ['--port 9000', /Did you mean one of .*--http-port/],
    ['restore x --dir y', /Did you mean --data-dir\?/],
  ])('%s: says what may be meant', async (line, advice) => {
    const { code, stderr } = await runCommand(line.split(' '))
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(advice)
  })

  it('says of an admin key that the server does not know how to give that of the server', async () => {
    const other = await temporaryDirectory()
    const file = join(other, 'admin-key')
    await writeFile(file, 'x'.repeat(43), { mode: 0o600 })
    const ofFile = `${file} may belong to another server: give --data-dir, with the data directory of the server at ${server.url}`
    const ofVariable = 'THINGWIRE_ADMIN_KEY may belong to another server'
    const cases = [
      [['things', 'list'], { THINGWIRE_DATA_DIR: other }, ofFile, 4],
      [['things', 'list', '--data-dir', other], {}, ofFile, 4],
      [['things', 'create', 'boat', '--credential-file', file], {}, ofFile, 4],
      [['read', 'boat', 'n'], { THINGWIRE_DATA_DIR: other }, ofFile, 4],
      [['things', 'list'], { THINGWIRE_ADMIN_KEY: 'x'.repeat(43) }, ofVariable, 4],
      [['doctor'], { THINGWIRE_DATA_DIR: other }, ofFile, 1],
      [['doctor'], { THINGWIRE_ADMIN_KEY: 'x'.repeat(43) }, ofVariable, 1],
    ] as const
    for (const [args, environment, text, status] of cases) {
      const { code, stdout, stderr } = await runCommand(args, { server: { url: server.url }, environment })
      expect({ args, code }).toEqual({ args, code: status })
      expect(stdout + stderr).toContain(text)
      expect(stdout + stderr).not.toContain('tokens add')
    }
  })

  it('adds, lists and revokes tokens, and refuses a name that two things have', async () => {
    await jsonOf(['things', 'create', 'twin'], { server })
    const { thingId, thingToken } = await jsonOf<Record<'thingId' | 'thingToken', string>>(
      ['things', 'create', 'twin'],
      { server },
    )
    const twins = await runCommand(['tokens', 'list', 'twin'], { server })
    expect(twins.code).toBe(1)
    expect(twins.stderr).toContain(`  ${thingId}, created `)

    const added = await jsonOf<Record<'tokenId' | 'thingToken', string>>(['tokens', 'add', thingId], {
      server,
    })
    const { tokens } = await jsonOf<{ tokens: { tokenId: string }[] }>(['tokens', 'list', thingId], {
      server,
    })
    expect(tokens).toHaveLength(2)
    const first = tokens.find(({ tokenId }) => tokenId !== added.tokenId)?.tokenId ?? ''
    expect(await runCommand(['tokens', 'revoke', thingId, first], { server })).toMatchObject({ code: 0 })
    const withOld = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: thingToken } }
    expect(await runCommand(['write', 'n=1'], withOld)).toMatchObject({ code: 4, stdout: '' })
    const withNew = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: added.thingToken } }
    expect(await runCommand(['write', 'n=1'], withNew)).toMatchObject({ code: 0 })
  })

  it('says how another device reaches the page, where the server listens on more than loopback', async () => {
    const everywhere = await serverOfTest({ args: ['--host', '0.0.0.0'] })
    const url = onThisMachine(everywhere.url)
    const place = urlForBrowsers(url.replace('127.0.0.1', '0.0.0.0'))
    const line = `On another device the link begins with ${place} in place of ${url}.`
    const args = ['sessions', 'create', '--all']
    const here = { server: { url, adminKey: everywhere.adminKey } }
    expect((await runCommand(args, here)).stdout.includes(line)).toBe(place !== url)
    expect((await runCommand(args, { server })).stdout).not.toContain('On another device')
  })

  it('makes sessions that may do what they are for, lists and revokes them', async () => {
    const { thingId, thingToken } = await jsonOf<Record<'thingId' | 'thingToken', string>>(
      ['things', 'create', 'sloop'],
      { server },
    )
    const session = await jsonOf<Record<'sessionToken' | 'sessionId' | 'link', string>>(
      ['sessions', 'create', 'sloop', '--expires-in', '2h'],
      { server },
    )
    expect(session.link).toBe(`${server.url}/#session=${session.sessionToken}`)
    const viewer = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: session.sessionToken } }
    expect(await jsonOf(['things', 'list'], viewer)).toMatchObject({ things: [{ thingId }] })
    expect(await runCommand(['write', 'n=1'], viewer)).toMatchObject({ code: 4 })
    const { sessions } = await jsonOf<{ sessions: object[] }>(['sessions', 'list'], { server })
    expect(sessions).toContainEqual(
      expect.objectContaining({ sessionId: session.sessionId, things: [thingId], access: 'read' }),
    )
    const second = await jsonOf<Record<'sessionId', string>>(['sessions', 'create', 'sloop'], { server })
    const third = await jsonOf<Record<'sessionId', string>>(['sessions', 'create', '--all'], { server })
    const { stdout } = await runCommand(['sessions', 'list'], { server })
    const rows = [
      `${session.sessionId} .* sloop`,
      `${second.sessionId} .* sloop`,
      `${third.sessionId} .* all`,
    ]
    expect(stdout).toMatch(new RegExp(rows.join('[^]*')))
    await jsonOf(['sessions', 'revoke', session.sessionId], { server })
    expect(await runCommand(['things', 'list'], viewer)).toMatchObject({ code: 4 })

    const own = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: thingToken } }
    const create = ['sessions', 'create', '--expires-in']
    expect(await runCommand([...create, '31d'], own)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--expires-in must be at most 30d (days) with a thing's token"),
    })
    expect(await runCommand([...create, '30d'], own)).toMatchObject({ code: 0 })
    expect(await runCommand([...create, '367d', 'sloop'], { server })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--expires-in must be at most 366d (days), but it is 367d'),
    })
    expect(await runCommand([...create, '366d', 'sloop'], { server })).toMatchObject({ code: 0 })
    const minted = await jsonOf<{ sessionToken: string }>(['sessions', 'create', '--write'], own)
    const writer = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: minted.sessionToken } }
    expect(await runCommand(['write', 'n=1'], writer)).toMatchObject({ code: 0 })
  })

  it('makes, lists and deletes activation codes', async () => {
    const { activationCodes } = await jsonOf<{ activationCodes: string[] }>(
      ['codes', 'create', '--count', '2', '--uses', '3'],
      { server },
    )
    expect(activationCodes).toHaveLength(2)
    const [code = ''] = activationCodes
    await jsonOf(['codes', 'delete', code], { server })
    const left = await jsonOf<{ activationCodes: object[] }>(['codes', 'list'], { server })
    expect(left.activationCodes).toEqual([
      expect.objectContaining({ activationCode: activationCodes[1], usesLeft: 3 }),
    ])
  })

  it('tells by its exit status what a script has to do', async () => {
    const nowhere = { server: { url: 'http://127.0.0.1:2', adminKey: server.adminKey } }
    const unknown = { server: { url: server.url }, environment: { THINGWIRE_TOKEN: 'unknown' } }
    const none = { server: { url: server.url }, environment: { THINGWIRE_DATA_DIR: '/nowhere' } }
    const https = { server: { url: server.url.replace('http:', 'https:'), adminKey: server.adminKey } }
    const cases = [
      [['read', 'nothing', 'n'], { server }, 1],
      [['read', '--nothing'], { server }, 2],
      [['things'], { server }, 2],
      [['read', 'boat', 'n', '--order', 'up'], { server }, 2, /--order must be/],
      [['read', 'boat', 'n', '--aggregate', 'avg', '--interval', '5x'], { server }, 2, /--interval must be/],
      [
        ['read', 'boat', 'n', '--aggregate', 'mean', '--interval', '5m'],
        { server },
        2,
        /--aggregate must be/,
      ],
      [['read', 'boat', 'n', '--points', 'many'], { server }, 2, /--points must be/],
      [['read', 'boat', 'n', '--points', '9', '--limit', '3'], { server }, 2, /--limit cannot be combined/],
      [['read', 'boat', 'n', '--tz', 'Europe/Madrid'], { server }, 2, /--tz needs --aggregate/],
      [['read', 'boat', 'n', '--empty'], { server }, 2, /--empty needs --aggregate/],
      [['read', 'boat', 'n,m'], { server }, 2, /several keys need --aggregate or --points/],
      [['read', 'boat', 'n', '--from', 'yesterday'], { server }, 2, /--from must be/],
      [
        ['read', 'boat', 'n', '--from', '2026-02-02', '--to', '2026-02-01'],
        { server },
        2,
        /--from .* is later than --to/,
      ],
      [
        ['read', 'boat', 'n', '--sparkline', '--limit', '3'],
        { server },
        2,
        /--limit cannot be combined with --sparkline/,
      ],
      [['read', 'abcdefgh234567ab', '--from', '2026-02-02'], { server }, 2, /--from needs a key/],
      [['things', 'list', '--bbox', '1,2,3'], { server }, 2, /--bbox must be/],
      [['write', 'boat', 'n=1', '--date', '2026-02-02'], { server }, 2, /--date is only for a file/],
      [['write', 'boat', 'n=1', '--datetime', 'yesterday'], { server }, 2, /--datetime must be/],
      [['write', 'boat', 'n=1', '--datetime', '2026-02-02T09:30'], { server }, 2, /names no zone/],
      [['codes', 'create', '--count', '2000'], { server }, 2, /--count must be .* from 1 to 1000/],
      [['check', 'foo'], {}, 2],
      [['check', '--data-dir'], {}, 2, /--data-dir/],
      [['serve', '--redis-url', 'redis://:hidden@localhost'], {}, 1, /--redis-url .*set THINGWIRE_REDIS_URL/],
      [['wriet', 'boat', 'n=1', '--partial'], { server }, 2],
      [['write', server.adminKey, 'n=1'], { server }, 2],
      [['write', 'boat', server.adminKey], { server }, 2, /do not put a token on the command line/],
      [['sessions', 'revoke', server.adminKey], { server }, 2, /give the id of the session/],
      [['tokens', 'revoke', 'boat', server.adminKey], { server }, 2, /give the id of the token/],
      [['import', '-'], { server }, 2, /reads a file, not stdin/],
      [
        ['write', `-${server.adminKey}`, 'n=1'],
        { server },
        2,
        /unknown option '\[redacted\]'.*write -- before/,
      ],
      [['things', 'list', `--${server.adminKey}`], { server }, 2, /unknown option/],
      [['things', 'list'], nowhere, 3],
      [['things', 'list'], https, 3, /the TLS handshake failed.*is the URL http:/],
      [['things', 'list'], unknown, 4],
      [['things', 'list'], none, 4],
    ] as const
    for (const [args, setup, status, told = /./] of cases) {
      const { code, stdout, stderr } = await runCommand(args, setup)
      expect({ args, code, stdout }).toEqual({ args, code: status, stdout: '' })
      expect(stderr).toMatch(told)
      expect(stderr).not.toContain('hidden')
      expect(stderr).not.toContain(server.adminKey)
    }
  })
})
