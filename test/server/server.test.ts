import { once } from 'node:events'
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventOf } from '../helpers/event-of.ts'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { runCli } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const newDataDir = async () => join(await temporaryDirectory(), 'data')

describe('the server', () => {
  it('keeps every acknowledged write over a SIGTERM in the middle of the load', async () => {
    const dataDir = await newDataDir()
    const first = await serverOfTest({ dataDir })
    const thing = await createThing(first)
    const acked: number[] = []
    let next = 0
    const device = async () => {
      for (;;) {
        const value = next++
        const answer = await write(first, thing, { values: [{ key: 'n', value }] }).catch(() => undefined)
        if (answer === undefined) return
        expect(answer.status).toBe(201)
        acked.push(value)
        if (acked.length === 300) first.process.kill('SIGTERM')
      }
    }
    await Promise.all(Array.from({ length: 8 }, device))
    const exit = await first.exited
    expect(exit).toMatchObject({ code: 0, signal: null })
    expect(exit.stderr).toContain('stopped')
    expect(exit.stderr).not.toContain('cutting')

    const second = await serverOfTest({ dataDir })
    const stored = new Set((await readAll(second, thing, 'n')).map(record => record.value))
    expect(acked.filter(value => !stored.has(value))).toEqual([])
  })

  it('answers a client that closes its half of the connection right after the request', async () => {
    const server = await serverOfTest({ dataDir: await newDataDir() })
    const thing = await createThing(server)
    const body = '{"values":[{"key":"n","value":1}]}'
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.end(
      `POST /v2/things/${thing.thingToken} HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(await text(socket)).toMatch(/^HTTP\/1.1 201 /)
    expect(await readAll(server, thing, 'n')).toHaveLength(1)
  })

  it('ignores an expectation that it does not know', async () => {
    const server = await serverOfTest({ dataDir: await newDataDir() })
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.end('GET /healthz HTTP/1.1\r\nExpect: miracles\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('finishes a request in flight at SIGTERM, and closes its connection though the client would keep it', async () => {
    const server = await serverOfTest({ dataDir: await newDataDir() })
    const socket = await halfRequest(server.url)
    server.process.kill('SIGTERM')
    await server.logged(/"stopping"/)
    socket.write(`tionCode":"${'A'.repeat(79)}"}`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 401 /m)
    expect(answer).toMatch(/^connection: close\r$/im)
    const exit = await server.exited
    expect(exit).toMatchObject({ code: 0, signal: null })
    expect(exit.stderr).not.toContain('cutting')
  })

  it('exits with 0 also when a client never finishes its request', async () => {
    const server = await serverOfTest({ dataDir: await newDataDir(), args: ['--shutdown-timeout', '8000'] })
    await halfRequest(server.url)
    const exit = await server.stop()
    expect(exit).toMatchObject({ code: 0, signal: null })
    expect(exit.stderr).toContain('cutting')
  })

  it('ends at once at a second signal', async () => {
    const server = await serverOfTest({ dataDir: await newDataDir(), args: ['--shutdown-timeout', '600000'] })
    await halfRequest(server.url)
    server.process.kill('SIGINT')
    await server.logged(/"stopping"/)
    expect(await server.stop()).toMatchObject({ code: 1 })
  })

  it('logs an uncaught exception and ends with a status that is not 0', async () => {
    const failure = `process.on('SIGUSR2', () => { throw new Error('on purpose') })`
    const server = await serverOfTest({
      dataDir: await newDataDir(),
      environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(failure)}` },
    })
    server.process.kill('SIGUSR2')
    const exit = await server.exited
    expect(exit.code).toBe(1)
    expect(exit.stderr).toMatch(/^\{"level":60,.*on purpose/m)
  })
})

describe('the admin key', () => {
  it('is made once, kept with mode 0600, and not printed where stdout is no terminal', async () => {
    const dataDir = await newDataDir()
    const first = await serverOfTest({ dataDir })
    const file = join(dataDir, 'admin-key')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(first.adminKey.length).toBeGreaterThanOrEqual(32)
    const { stdout, stderr } = await first.stop()
    expect(stdout).toContain(file)
    expect(stdout + stderr).not.toContain(first.adminKey)

    const second = await serverOfTest({ dataDir })
    expect(second.adminKey).toBe(first.adminKey)
    await createThing(second)
    expect((await second.stop()).stdout).not.toContain('admin')
  })

  it('is the configured one where there is one', async () => {
    const dataDir = await newDataDir()
    const THINGWIRE_ADMIN_KEY = 'configured-'.repeat(4)
    const server = await serverOfTest({ dataDir, environment: { THINGWIRE_ADMIN_KEY } })
    await createThing(server)
    await expect(readFile(join(dataDir, 'admin-key'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('a start that cannot be', () => {
  it('names the port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    await expectRefusal(
      ['--data-dir', await newDataDir(), '--http-port', `${port}`, '--mqtt-port', '0'],
      new RegExp(`port ${port} \\(--http-port\\) on 127.0.0.1 is in use`),
    )
    const config = join(await temporaryDirectory(), 'options.json')
    await writeFile(config, '{"httpPort":0,"mqttPort":0}')
    await expectRefusal(
      ['--config', config, '--data-dir', await newDataDir()],
      new RegExp(`port ${port} \\(THINGWIRE_HTTP_PORT\\) on 127.0.0.1 is in use`),
      { THINGWIRE_HTTP_PORT: `${port}` },
    )
  })

  it('names the data directory that another process holds', async () => {
    const dataDir = await newDataDir()
    await serverOfTest({ dataDir })
    await expectRefusal(
      ['--data-dir', dataDir, '--http-port', '0'],
      new RegExp(
        `${dataDir}.* already running on this directory.* \\(--data-dir names the data directory\\)`,
      ),
    )
    await expectRefusal(
      ['--http-port', '0'],
      new RegExp(`${dataDir}.* \\(THINGWIRE_DATA_DIR names the data directory\\)`),
      { THINGWIRE_DATA_DIR: dataDir },
    )
  })

  it('names the data directory that cannot be made', async () => {
    const directory = await temporaryDirectory()
    await symlink(join(directory, 'nowhere'), join(directory, 'link'))
    const cannotBe = [
      join(import.meta.filename, 'data'),
      join(import.meta.filename, 'a/b/c'),
      '/proc/thingwire',
      '/proc/thingwire/a/b',
      '/proc/1/thingwire',
      join(directory, 'link'),
      join(directory, 'link/data'),
      join(directory, 'link/a/b/c'),
      join(directory, 'x'.repeat(300)),
    ]
    for (const dataDir of cannotBe) {
      await expectRefusal(['--data-dir', dataDir, '--http-port', '0'], new RegExp(dataDir))
    }
  })

  it('leaves no admin key behind: the start that succeeds says where it is', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    const dataDir = await newDataDir()
    for (const options of [
      ['--http-port', `${port}`, '--mqtt-port', '0'],
      ['--http-port', '0', '--mqtt-port', `${port}`],
    ]) {
      await expectRefusal(['--data-dir', dataDir, ...options], new RegExp(`${port}.* in use`))
      expect(await readdir(dataDir)).not.toContain('admin-key')
    }
    const server = await serverOfTest({ dataDir })
    expect((await server.stop()).stdout).toContain(join(dataDir, 'admin-key'))
  })

  it.each([
    ['unknown option', ['--http-prt', '80'], /--http-prt/],
    ['value out of range', ['--http-port', '99999'], /--http-port .*99999/],
    ['option without value', ['--http-port'], /--http-port/],
    ['admin key on the command line', ['--admin-key', 'k'.repeat(40)], /--admin-key/],
    ['file that is not there', ['--config', 'nowhere.json'], /nowhere\.json/],
  ])('names the %s', async (_case, args, line) => {
    await expectRefusal(args, line)
  })

  it('names the unknown variable', async () => {
    await expectRefusal([], /THINGWIRE_HTTP_PRT/, { THINGWIRE_HTTP_PRT: '80' })
  })
})

describe('the log', () => {
  it('holds no token and no admin key, whatever was requested', async () => {
    const server = await serverOfTest({ dataDir: await newDataDir(), args: ['--log-level', 'trace'] })
    const { url, adminKey } = server
    const thing = await createThing(server)
    const token = thing.thingToken
    await write(server, thing, { values: [{ key: 'n', value: 1 }] })
    await write(server, thing, { values: [] })
    const headers = { authorization: `Bearer ${adminKey}` }
    const paths = [
      `/v2/things/${token}/resources/n?limit=zero`,
      `/v2/things/${token}/no/such/path`,
      `/${token}`,
      `/v2/things/${token}/%zz`,
      `/v2/things/%${token.charCodeAt(0).toString(16)}${token.slice(1)}/resources/n`,
      `/v2/utils/date?thingToken=${token}`,
      `/v2/things/${thing.thingId}/resources?session=${token}`,
    ]
    for (const path of paths) await (await fetch(url + path, { headers })).arrayBuffer()
    await fetch(`${url}/v2/things/${token}/resources/n`, { method: 'PUT', body: token, headers })
    await rawRequest(url, `GET /v2/things/${token} HTTP/1.1\r\nHost: x\r\nbroken ${token}\r\n\r\n`)
    await rawRequest(url, `BREW /v2/things/${token} HTTP/9.9\r\n\r\n`)
    const { stdout, stderr } = await server.stop()
    expect(stderr).toContain(`/v2/things/${thing.thingId}/resources`)
    // Not a part of it either: the first characters are enough to tell one token from another.
    expect(stdout + stderr).not.toContain(token.slice(1, 12))
    expect(stdout + stderr).not.toContain(adminKey.slice(0, 12))
  })
})

async function expectRefusal(args: readonly string[], line: RegExp, environment: NodeJS.ProcessEnv = {}) {
  const { code, stdout, stderr } = await runCli({ args, environment })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^thingwire: [^\n]+\n$/)
  expect(stderr).toMatch(line)
}

/** Sends the head of a write and half its body, and waits until the server has read it. */
async function halfRequest(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(
    'POST /v2/things HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n{"activa',
  )
  await once(socket, 'data')
  return socket
}

async function rawRequest(url: string, text: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  socket.end(text)
  socket.resume()
  await eventOf(socket, 'close')
}
