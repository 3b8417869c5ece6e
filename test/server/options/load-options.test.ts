import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completeOptions, loadOptions, originOf } from '../../../src/server/options/load-options.ts'
import { declarationOf, optionNames } from '../../../src/server/options/options.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const defaults = Object.fromEntries(optionNames.map(name => [name, declarationOf(name).default]))
const key = 'k'.repeat(32)

async function configFile(content: unknown): Promise<string> {
  const file = join(await temporaryDirectory(), 'my.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('loadOptions()', () => {
  it('gives the defaults when nothing is set', async () => {
    expect(await loadOptions({}, {})).toEqual(defaults)
  })

  it('prefers the command line to the environment, that to the file, that to the default', async () => {
    const config = await configFile({ httpPort: 1, bodyLimit: 2_000, host: 'file' })
    const environment = { THINGWIRE_HTTP_PORT: '2', THINGWIRE_BODY_LIMIT: '3000' }
    expect(await loadOptions({ config, 'http-port': '3' }, environment)).toEqual({
      ...defaults,
      httpPort: 3,
      bodyLimit: 3_000,
      host: 'file',
    })
  })

  it('knows what names the value of each option, also of the options that a server completes', async () => {
    const config = await configFile({ httpPort: 1, mqttPort: 2, dataDir: './d' })
    const environment = { THINGWIRE_HTTP_PORT: '3', THINGWIRE_MQTT_PORT: '4' }
    const options = await loadOptions({ config, 'http-port': '5' }, environment)
    for (const each of [options, completeOptions(options)]) {
      expect(originOf(each, 'httpPort')).toBe('--http-port')
      expect(originOf(each, 'mqttPort')).toBe('THINGWIRE_MQTT_PORT')
      expect(originOf(each, 'dataDir')).toBe(`dataDir in ${config}`)
      expect(originOf(each, 'host')).toBe('the default of host')
    }
    expect(originOf(await loadOptions({}, {}), 'httpPort')).toBe('the default of httpPort')
    const ofProgram = completeOptions({ httpPort: 1 })
    expect(originOf(ofProgram, 'httpPort')).toBe('httpPort in the options of createServer')
    expect(originOf(ofProgram, 'mqttPort')).toBe('the default of mqttPort')
  })

  it('takes the file from THINGWIRE_CONFIG unless the command line names one', async () => {
    const one = await configFile({ httpPort: 1 })
    const two = await configFile({ httpPort: 2 })
    expect(await loadOptions({}, { THINGWIRE_CONFIG: one })).toMatchObject({ httpPort: 1 })
    expect(await loadOptions({ config: two }, { THINGWIRE_CONFIG: one })).toMatchObject({ httpPort: 2 })
  })

  it('reads numbers, booleans and lists out of texts', async () => {
    const environment = {
      THINGWIRE_ALLOW_THING_DELETE: 'true',
      THINGWIRE_ALLOWED_ORIGINS: 'https://a.example, http://b.example:81',
      THINGWIRE_ADMIN_KEY: key,
    }
    expect(await loadOptions({ 'min-free-space': '0' }, environment)).toEqual({
      ...defaults,
      allowThingDelete: true,
      allowedOrigins: ['https://a.example', 'http://b.example:81'],
      adminKey: key,
      minFreeSpace: 0,
    })
  })

  it.each([
    [
      { httpPort: 1883 },
      /^httpPort in \S+my\.json and the default of mqttPort are both 1883: each needs a port of its own$/,
    ],
    [{ lenientPort: 8080 }, /^the default of httpPort and lenientPort in \S+my\.json are both 8080/],
    [
      { tlsCert: 'c.pem', tlsKey: 'k.pem', httpsPort: 8080 },
      /^the default of httpPort and httpsPort in \S+my\.json are both 8080/,
    ],
  ])('refuses one port for two doors: %j', async (options, message) => {
    const config = await configFile(options)
    await expect(loadOptions({ config }, {})).rejects.toThrow(message)
  })

  it.each([
    { httpPort: 0, mqttPort: 0 },
    { httpsPort: 8080 },
    { tlsHost: '127.0.0.2', tlsCert: 'c.pem', tlsKey: 'k.pem', httpsPort: 8080 },
  ])('takes ports that differ or are not used: %j', async options => {
    const config = await configFile(options)
    expect(await loadOptions({ config }, {})).toMatchObject(options)
  })

  it('counts an empty variable as not set', async () => {
    expect(await loadOptions({}, { THINGWIRE_ADMIN_KEY: '', THINGWIRE_CONFIG: '' })).toEqual(defaults)
  })

  it('leaves variables alone that an orchestrator sets for a service called thingwire', async () => {
    const environment = {
      THINGWIRE_SERVICE_HOST: '10.0.0.1',
      THINGWIRE_SERVICE_PORT_HTTP: '80',
      THINGWIRE_PORT: 'tcp://10.0.0.1:80',
      THINGWIRE_PORT_80_TCP_ADDR: '10.0.0.1',
    }
    expect(await loadOptions({}, environment)).toEqual(defaults)
  })

  it.each([
    ['a number out of range', { httpPort: 65_536 }, /^httpPort in \S+my\.json must be .*, but it is 65536$/],
    ['a text for a number', { httpPort: '80' }, /^httpPort in \S+my\.json must be .*, but it is "80"$/],
    [
      'an unknown option',
      { httpPrt: 80 },
      /^unknown option httpPrt in \S+my\.json: docs\/reference\/options\.md lists all options$/,
    ],
    ['a text for a list', { retention: '30d' }, /^retention in \S+my\.json must be .*: write \["30d"\]$/],
    ['an unknown choice', { durability: 'none' }, /^durability in \S+my\.json must be .*synced/],
    [
      'an origin with a path',
      { allowedOrigins: ['https://a.example/'] },
      /^allowedOrigins in \S+my\.json must/,
    ],
    ['an array', [], /^\S.*my\.json must contain a JSON object$/],
    ['no JSON', '{"httpPort": 80', /my\.json is not valid JSON \(line 1, column 16\): it ends too early$/],
    [
      'a trailing comma',
      '\ufeff{\n  "httpPort": 80,\n}',
      /my\.json is not valid JSON \(line 3, column 1\): .*: remove the comma before it$/,
    ],
    ['a comment', '{\n  // of "k3y"\n}', /\(line 2, column 3\): .*: JSON has no comments$/],
  ])('refuses a file with %s, in one line that names it', async (_case, content, message) => {
    await expect(loadOptions({ config: await configFile(content) }, {})).rejects.toThrow(message)
  })

  it('names a file that it cannot read', async () => {
    await expect(loadOptions({ config: 'nowhere.json' }, {})).rejects.toThrow(/nowhere\.json/)
  })

  it.each([
    [{ THINGWIRE_PORT: '9000' }, /THINGWIRE_HTTP_PORT is the port of HTTP$/],
    [{ THINGWIRE_HTTP_PORT: '-1' }, /^THINGWIRE_HTTP_PORT must be .*, but it is "-1"$/],
    [{ THINGWIRE_HTTP_PORT: '0x50' }, /^THINGWIRE_HTTP_PORT must be/],
    [
      { THINGWIRE_ALLOW_THING_DELETE: 'yes' },
      /^THINGWIRE_ALLOW_THING_DELETE must be true or false, but it is "yes"$/,
    ],
    [
      { THINGWIRE_RETENTION: '30d, debug.*=1w' },
      /^THINGWIRE_RETENTION must be a list of ages .*, but it is \["30d","debug\.\*=1w"\]$/,
    ],
    [{ THINGWIRE_RETENTION: '30d,*=1d' }, /^THINGWIRE_RETENTION must be .* each key once, but it is/],
    [{ THINGWIRE_TOPICS: 'tele/#,things/#' }, /^THINGWIRE_TOPICS must be .*: things\/# begins with things/],
    [{ THINGWIRE_TOPICS: 'tele/#,' }, /^THINGWIRE_TOPICS must be .*: an empty text is not a topic filter/],
    [
      { THINGWIRE_HTTP_PRT: '80' },
      /^unknown option THINGWIRE_HTTP_PRT in the environment: docs\/reference\/options\.md lists all options$/,
    ],
  ])('refuses %j', async (environment, message) => {
    await expect(loadOptions({}, environment)).rejects.toThrow(message)
  })

  it('refuses a value out of range also where another source wins', async () => {
    await expect(loadOptions({ 'http-port': '80' }, { THINGWIRE_HTTP_PORT: '99999' })).rejects.toThrow(
      /^THINGWIRE_HTTP_PORT must be/,
    )
  })

  it.each([
    ['the environment', async () => loadOptions({}, { THINGWIRE_ADMIN_KEY: 'sesame' })],
    ['a file', async () => loadOptions({ config: await configFile({ adminKey: 'sesame' }) }, {})],
    ['a broken file', async () => loadOptions({ config: await configFile('{"adminKey":"sesame"') }, {})],
  ])('refuses an admin key of %s without repeating it', async (_case, load) => {
    const error: unknown = await load().catch(error => error)
    expect(error).toBeInstanceOf(Error)
    expect(String(error)).not.toContain('sesame')
  })
})

describe('completeOptions()', () => {
  it('fills up with the defaults', () => {
    expect(completeOptions({ httpPort: 0 })).toEqual({ ...defaults, httpPort: 0 })
  })

  it('refuses what the options of a file may not hold either', () => {
    expect(() => completeOptions({ httpPort: 1.5 })).toThrow(/^httpPort in .* must be/)
    for (const filter of ['#', '+/a', 'things/#', 'v2/x', '$SYS/#', 'a#'])
      expect(() => completeOptions({ topics: ['tele/#', filter] })).toThrow(
        /^topics in .* must be a list of topic/,
      )
    expect(() => completeOptions({ port: 1 } as object)).toThrow(/^unknown option port/)
  })
})
