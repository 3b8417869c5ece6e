import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { DoorService, eventually } from '../mqtt/door-service.ts'
import { basic, PostedSource } from './posting.ts'

let service: DoorService
beforeAll(async () => {
  const ends: (() => Promise<void>)[] = []
  service = await DoorService.start({ onEnd: close => ends.push(close) })
  return async () => {
    for (const end of ends.reverse()) await end()
  }
})

const gzip = (text: string) => new Uint8Array(gzipSync(text))

/** Requests of clients, as their sources have them. `<token>` stands for the token of the source, `<host>` for a host. */
const clients: readonly [
  name: string,
  request: {
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly login?: readonly [user: string, password: string]
    readonly lines: string
    readonly isCompressed?: true
  },
  stored: Readonly<Record<string, Readonly<Record<string, readonly [value: unknown, datetime?: string]>>>>,
][] = [
  [
    'outputs.influxdb of Telegraf (influxdata/telegraf b2726314, plugins/outputs/influxdb/http.go)',
    {
      path: '/write?db=telegraf',
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'content-encoding': 'gzip',
        'user-agent': 'Telegraf/1.36.0 Go/1.25.0',
      },
      login: ['telegraf', '<token>'],
      lines:
        'cpu,cpu=cpu-total,host=loaner usage_idle=82.3834196941197,usage_user=11.398963731636465 1568760922000000000\n' +
        'mem,host=loaner active=9299595264i,used_percent=15.95004011996231 1574712869000000000\n',
      isCompressed: true,
    },
    {
      loaner: {
        'cpu.cpu-total.usage_idle': [82.3834196941197, '2019-09-17T22:55:22.000Z'],
        'cpu.cpu-total.usage_user': [11.398963731636465, '2019-09-17T22:55:22.000Z'],
        'mem.active': [9299595264, '2019-11-25T20:14:29.000Z'],
        'mem.used_percent': [15.95004011996231, '2019-11-25T20:14:29.000Z'],
      },
    },
  ],
  [
    'outputs.influxdb_v2 of Telegraf (influxdata/telegraf b2726314, plugins/outputs/influxdb_v2/http.go)',
    {
      path: '/api/v2/write?bucket=house&org=home',
      headers: {
        authorization: 'Token <token>',
        'content-type': 'text/plain; charset=utf-8',
        'content-encoding': 'gzip',
        'user-agent': 'Telegraf/1.36.0 Go/1.25.0',
      },
      lines:
        'disk,device=dm-1,fstype=xfs,host=loaner,label=lvg-lv,mode=rw,path=/mnt free=16959598592i,used=153161728i 1677001387000000000\n',
      isCompressed: true,
    },
    {
      loaner: {
        'disk.dm-1.xfs.lvg-lv.rw._mnt.free': [16959598592, '2023-02-21T17:43:07.000Z'],
        'disk.dm-1.xfs.lvg-lv.rw._mnt.used': [153161728, '2023-02-21T17:43:07.000Z'],
      },
    },
  ],
  [
    'Proxmox VE (proxmox/pve-manager 09e47a6d, PVE/Status/InfluxDB.pm)',
    {
      path: '/api/v2/write?org=proxmox&bucket=proxmox',
      headers: { authorization: 'Token <token>', 'user-agent': 'libwww-perl/6.68' },
      lines:
        'cpustat,object=nodes,host=pve cpu=0.02,cpus=4,wait=0 1700000000000000000\n' +
        'system,object=qemu,vmid=100,nodename=pve,host=my\\ vm cpu=0.01,name="my vm",status="running",uptime=86400 1700000000000000000\n' +
        'system,object=storages,nodename=pve,host=local,type=dir active=1,avail=80000000000,enabled=1 1700000000000000000\n',
    },
    {
      pve: {
        'cpustat.nodes.cpu': [0.02, '2023-11-14T22:13:20.000Z'],
        'cpustat.nodes.cpus': [4],
        'cpustat.nodes.wait': [0],
      },
      'my vm': {
        'system.qemu.100.pve.cpu': [0.01],
        'system.qemu.100.pve.name': ['my vm'],
        'system.qemu.100.pve.status': ['running'],
        'system.qemu.100.pve.uptime': [86400],
      },
      local: {
        'system.storages.pve.dir.active': [1],
        'system.storages.pve.dir.avail': [80000000000],
        'system.storages.pve.dir.enabled': [1],
      },
    },
  ],
  [
    'Home Assistant with InfluxDB 1 (influxdata/influxdb-python e4d6b131, influxdb/client.py)',
    {
      path: '/write?db=home_assistant',
      headers: { 'content-type': 'application/octet-stream', accept: 'application/x-msgpack' },
      login: ['home', '<token>'],
      lines:
        '°C,domain=sensor,entity_id=kitchen friendly_name_str="Kitchen",value=21.5 1700000000123456000\n',
    },
    {
      '°C': {
        '_C.sensor.kitchen.friendly_name_str': ['Kitchen', '2023-11-14T22:13:20.123Z'],
        '_C.sensor.kitchen.value': [21.5, '2023-11-14T22:13:20.123Z'],
      },
    },
  ],
  [
    'Home Assistant with InfluxDB 2 (influxdata/influxdb-client-python bcc027af, influxdb_client/client/write_api.py)',
    {
      path: '/api/v2/write?org=home&bucket=house&precision=ms',
      headers: {
        authorization: 'Token <token>',
        'content-type': 'text/plain',
        accept: 'application/json',
        'content-encoding': 'identity',
      },
      lines: 'W,domain=sensor,entity_id=plug value=12.0 1700000000123',
    },
    { W: { 'W.sensor.plug.value': [12, '2023-11-14T22:13:20.123Z'] } },
  ],
  [
    'Node-RED with InfluxDB 1 (node-influx 5.12, src/index.ts)',
    {
      path: '/write?db=house&p=%3Ctoken%3E&precision=n&rp=&u=node',
      headers: {},
      lines: 'garden,sensor=a soil=40.1 1700000000000000000',
    },
    { garden: { 'garden.a.soil': [40.1, '2023-11-14T22:13:20.000Z'] } },
  ],
  [
    'Tasmota (arendst/Tasmota 439dd2eb, xdrv_59_influxdb.ino)',
    {
      path: '/write?db=db&u=tasmota&p=<token>',
      headers: { authorization: 'Token <token>', 'content-type': 'text/plain' },
      lines:
        'temperature,device=demo,sensor=ds18b20,id=01144A0CB2AA value=22.63\npower1,device=demo,sensor=device value=1',
    },
    {
      temperature: { 'temperature.demo.ds18b20.01144A0CB2AA.value': [22.63] },
      power1: { 'power1.demo.device.value': [1] },
    },
  ],
]

describe('a write of a client of InfluxDB', () => {
  it.each(clients)('is stored: %s', async (_, request, stored) => {
    const source = await PostedSource.open(['influx'], service)
    const own = (text: string) => text.replace(/<token>|%3Ctoken%3E/, source.token)
    const { login = [], lines, isCompressed } = request
    const headers = Object.entries(request.headers).map(([name, value]) => [name, own(value)] as const)
    const [user = '', password = ''] = login.map(own)
    if (login.length > 0) headers.push(['authorization', basic(user, password)])
    const answer = await source.post({
      path: own(request.path),
      headers: Object.fromEntries(headers),
      body: isCompressed ? gzip(lines) : lines,
    })
    expect(answer).toMatchObject({ status: 204, text: '' })
    const found = await source.records()
    expect(Object.keys(found).sort()).toEqual(Object.keys(stored).sort())
    for (const [device, records] of Object.entries(stored)) {
      expect(Object.keys(found[device] ?? {}).sort()).toEqual(Object.keys(records).sort())
      for (const [key, [value, datetime]] of Object.entries(records)) {
        const wanted = { value, ...(datetime !== undefined && { datetime }) }
        expect(found[device]?.[key]).toMatchObject([wanted])
      }
    }
    expect(await source.listed()).toEqual([])
  })

  it('is stored once though it is sent again', async () => {
    const source = await PostedSource.open(['influx'], service)
    const headers = { authorization: `Token ${source.token}` }
    const write = {
      path: '/api/v2/write?precision=s',
      headers,
      body: 'm,host=a v=1 1700000000\nm,host=a v=2 1700000001',
    }
    await Promise.all([source.post(write), source.post(write)])
    expect(await source.values('a')).toEqual({ 'm.v': [1, 2] })
  })

  it('of more records of a host than a write holds is stored', async () => {
    const source = await PostedSource.open(['influx'], service)
    const fields = Array.from({ length: 100 }, (_, place) => `f${place}=1`).join()
    const lines = Array.from({ length: 110 }, (_, place) => `m,host=a ${fields} ${1_700_000_000 + place}`)
    const headers = { authorization: `Token ${source.token}` }
    const write = { path: '/api/v2/write?precision=s', headers, body: lines.join('\n') }
    expect(await source.post(write)).toMatchObject({ status: 204 })
    const values = Object.values(await source.values('a'))
    expect(values.map(({ length }) => length)).toEqual(Array(100).fill(110))
  })

  describe.each([
    ['/api/v2/write', (message: unknown) => ({ code: 'invalid', message })],
    ['/write', (message: unknown) => ({ error: message })],
  ])('at %s', (path, invalid) => {
    const post = async (source: PostedSource, body: string, query = '') => {
      const headers = { authorization: `Token ${source.token}` }
      const { status, text } = await source.post({ path: `${path}?${query}`, headers, body })
      return { status, answer: text && JSON.parse(text) }
    }

    it('stores the good lines, and names the first bad one', async () => {
      const source = await PostedSource.open(['influx'], service)
      const { status, answer } = await post(source, 'm,host=a v=1\nm,host=a v=\nm,host=a v=3\nbad\n')
      expect(status).toBe(400)
      expect(answer).toEqual(
        invalid(expect.stringMatching(/^partial write: line 2, column 12: the value of a field/)),
      )
      expect(await source.values('a')).toEqual({ 'm.v': [1, 3] })
      await eventually(() => source.listed()).toEqual([
        expect.stringContaining('line 4, column 4'),
        expect.stringContaining('line 2, column 12'),
      ])
    })

    it('names a record that cannot be stored', async () => {
      const source = await PostedSource.open(['influx'], service)
      const { status, answer } = await post(source, `m,host=a v=1,w="${'x'.repeat(65_536)}"`)
      expect(status).toBe(400)
      expect(answer).toEqual(invalid(expect.stringMatching(/^partial write: thing [a-z2-7]{16}: m\.w: /)))
      expect(await source.values('a')).toEqual({ 'm.v': [1] })
    })

    it.each([
      ['an empty write', '', 204],
      ['an empty line', '\n', 204],
      ['NaN, which is no reading', 'm,host=a v=NaN', 204],
      ['bytes that are no lines', '{"values":[]}', 400],
    ])('answers %s', async (_, body, status) => {
      const source = await PostedSource.open(['influx'], service)
      expect((await post(source, body)).status).toBe(status)
      expect(await source.records()).toEqual({})
    })

    it.each([
      ['', '1700000000123456789', '2023-11-14T22:13:20.123Z'],
      ['ns', '1700000000123456789', '2023-11-14T22:13:20.123Z'],
      ['n', '1700000000123456789', '2023-11-14T22:13:20.123Z'],
      ['us', '1700000000123456', '2023-11-14T22:13:20.123Z'],
      ['u', '1700000000123456', '2023-11-14T22:13:20.123Z'],
      ['ms', '1700000000123', '2023-11-14T22:13:20.123Z'],
      ['s', '1700000000', '2023-11-14T22:13:20.000Z'],
      ['m', '28333333', '2023-11-14T22:13:00.000Z'],
      ['h', '472222', '2023-11-14T22:00:00.000Z'],
    ])('reads timestamps in the precision "%s"', async (precision, timestamp, datetime) => {
      const source = await PostedSource.open(['influx'], service)
      expect((await post(source, `m v=1 ${timestamp}`, `precision=${precision}`)).status).toBe(204)
      expect(await source.records()).toEqual({ m: { 'm.v': [{ value: 1, datetime }] } })
    })

    it('refuses a precision that it does not know', async () => {
      const source = await PostedSource.open(['influx'], service)
      const { status, answer } = await post(source, 'm v=1 1700000000', 'precision=days')
      expect(status).toBe(400)
      expect(answer).toEqual(invalid(expect.stringContaining('precision: must be ns, us, ms, s, m or h')))
    })

    it('refuses lines for a source of other formats, names the command, and lists it', async () => {
      const source = await PostedSource.open(['ttn', 'chirpstack'], service)
      const { status, answer } = await post(source, 'm v=1')
      const why =
        'the source must have the format influx to read lines of InfluxDB, but it has ttn, chirpstack'
      const command = `thingwire sources set ${source.sourceId} --format … --format influx`
      const message = `${why}: \`${command}\` replaces all its formats`
      expect(status).toBe(400)
      expect(answer).toEqual(invalid(message))
      await eventually(() => source.listed()).toEqual([`invalid_body: ${message}`])
    })

    it.each<[name: string, status: number, authorization: (others: Others) => string | undefined]>([
      ['no credential', 401, () => undefined],
      ['an unknown token', 401, () => `Token ${createToken()}`],
      ['another password', 401, () => basic('telegraf', 'secret')],
      ['the token of a thing', 403, ({ thingToken }) => `Token ${thingToken}`],
      ['a session', 403, ({ sessionToken }) => `Bearer ${sessionToken}`],
      ['the admin key', 403, ({ adminKey }) => `Token ${adminKey}`],
    ])('refuses %s', async (_, status, authorizationOf) => {
      const { thingToken } = await service.createThing()
      const { sessionToken } = await service.things.sessions.create('*', { access: 'write' })
      const authorization = authorizationOf({ thingToken, sessionToken, ...service })
      const headers = { ...(authorization !== undefined && { authorization }) }
      const response = await fetch(service.url + path, { method: 'POST', headers, body: 'm v=1' })
      expect(response.status).toBe(status)
      const answer = (await response.json()) as Record<string, string>
      const code = status === 401 ? 'unauthorized' : 'forbidden'
      const wanted = path === '/write' ? { error: expect.any(String) } : { code, message: expect.any(String) }
      expect(answer).toEqual(wanted)
      // Home Assistant recognises a wrong password by these words.
      if (path === '/write' && status === 401) expect(answer.error).toContain('authorization failed')
    })

    it('takes a wrong credential for a failed one, and a valid one at any time', async () => {
      const limited = await DoorService.start({ limits: { failedCredentialsPerMinute: 2 } })
      const source = await PostedSource.open(['influx'], limited)
      const statuses = []
      for (let count = 0; count < 4; count++) {
        const request = { path: `${path}?u=a&p=${createToken()}`, body: 'm v=1' }
        statuses.push((await source.post(request)).status)
      }
      expect(statuses).toEqual([401, 401, 429, 429])
      expect((await post(source, 'm v=1')).status).toBe(204)
    })
  })
})

interface Others {
  readonly thingToken: string
  readonly sessionToken: string
  readonly adminKey: string
}

describe('what clients of InfluxDB ask first', () => {
  const query = 'CREATE DATABASE "telegraf"'
  it.each<[method: string, path: string, body: string | undefined, status: number, text: string]>([
    ['GET', '/ping', undefined, 204, ''],
    ['HEAD', '/ping', undefined, 204, ''],
    ['GET', '/ping?verbose=true&u=a&p=b', undefined, 200, '{"version":"1.8.10"}'],
    ['POST', '/query', `q=${encodeURIComponent(query)}`, 200, '{"results":[{"statement_id":0}]}'],
    [
      'POST',
      `/query?db=x&q=${encodeURIComponent(query)}`,
      undefined,
      200,
      '{"results":[{"statement_id":0}]}',
    ],
    [
      'GET',
      '/query?q=SHOW+DATABASES&db=x',
      undefined,
      200,
      '{"results":[{"statement_id":0,"series":[{"name":"databases","columns":["name"],"values":[]}]}]}',
    ],
    [
      'GET',
      '/query?q=SELECT+*+FROM+cpu',
      undefined,
      400,
      '{"error":"the query must be CREATE DATABASE or SHOW DATABASES: records are read at /v2/things"}',
    ],
  ])('%s %s', async (method, path, body, status, text) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetch(service.url + path, { method, ...(body !== undefined && { body, headers }) })
    expect([response.status, await response.text()]).toEqual([status, text])
    if (path.startsWith('/ping')) expect(response.headers.get('x-influxdb-version')).toBe('1.8.10')
  })

  it('GET /health', async () => {
    const other = await DoorService.start()
    const ask = async () => {
      const response = await fetch(`${other.url}/health`, { headers: { authorization: 'Token x' } })
      return [response.status, ((await response.json()) as { status: string }).status]
    }
    expect(await ask()).toEqual([200, 'pass'])
    other.drain()
    expect(await ask()).toEqual([503, 'fail'])
  })

  it.each(['/write', '/api/v2/write', '/ping', '/query'])('has one method at %s', async path => {
    const response = await fetch(service.url + path, { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toMatch(/GET|POST/)
  })
})
