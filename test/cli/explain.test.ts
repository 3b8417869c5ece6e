import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { jsonOf, runCommand, startCommand } from './command.ts'

const explain = (input: string, ...args: readonly string[]) =>
  runCommand(['explain', '-', ...args.flatMap(arg => arg.split(' '))], { input })

describe('thingwire explain', () => {
  it.each([
    ['21.5', '--format value --levels cellar/temperature', ['cellar.temperature  21.5   receipt time']],
    [
      '{"t":1,"door":"open","datetime":"20261121093000"}',
      '--format json --levels cellar',
      ['cellar.t     1       2026-11-21T09:30:00.000Z', 'cellar.door  "open"  2026-11-21T09:30:00.000Z'],
    ],
    ['m,a=b c=1i 1465839830100400200', '--format influx', ['m.b.c  1      2016-06-13T17:43:50.100Z']],
  ])('shows what of %s would be stored with %s', async (message, args, rows) => {
    const { code, stdout, stderr } = await explain(message, args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [head, ...lines] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^KEY +VALUE +TIME$/)
    expect(lines).toEqual(rows)
  })

  it('says that a message has no reading', async () => {
    const { code, stdout } = await explain('unavailable', '--format value --levels n')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'no reading\n' })
  })

  it('reads a file, and prints JSON', async () => {
    const file = join(await temporaryDirectory(), 'reading.json')
    await writeFile(file, '{"t":{"in":21.5},"none":null}')
    const explained = await jsonOf(['explain', file, '--format', 'json'])
    expect(explained).toEqual({ records: [{ key: 't.in', value: 21.5 }], rejected: [] })
  })

  it('shows the good records and names the bad ones, with exit status 1', async () => {
    const { code, stdout, stderr } = await explain('{"a":1,"b":1e999}', '--format json')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^a +1 +receipt time$/m)
    expect(stderr).toMatch(
      /^thingwire: the message is refused for 1 record\n {2}record 1: value must .* \(number_out_of_range\)\n$/,
    )
  })

  it.each([
    ['no line', '--format influx', /line 1, column 8: .* \(invalid_lines\)/],
    ['{', '--format json', /the body must be JSON.* \(invalid_json\)/],
    ['21.5', '--format value', /the key must follow the format/],
  ])('says why %s would be refused with %s', async (message, args, reason) => {
    const { code, stdout, stderr } = await explain(message, args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(reason)
  })

  it.each([
    [['--format', 'json'], /missing required argument 'file'/],
    [['-', '--format'], /argument missing/],
    [['-', '--format', 'senml'], /one or more of tasmota, .*, levels; without --topic also value or json/],
    [['-', '--format', 'json', '--topic', 'a'], /one or more of tasmota/],
    [['-', '--format', 'levels'], /pattern must be given with the format levels/],
    [['-', '--format', 'levels', '--pattern', 'garden'], /pattern must be a topic with one level \{device\}/],
    [['-', '--levels', 'cellar'], /--levels must be given with --format value or json/],
    [['-', '--topic', 'tele/#'], /--topic must be a topic without wildcards/],
  ])('refuses the command line %j', async (args, reason) => {
    const { code, stdout, stderr } = await runCommand(['explain', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(reason)
  })
})

const config =
  '{"dn":"Plug","fn":["Plug"],"mac":"DC4F22000001","t":"plug","ft":"%prefix%/%topic%/","tp":["cmnd","stat","tele"]}'
const discovery = 'tasmota/discovery/DC4F22000001/config'

describe('thingwire explain, for messages of a source', () => {
  it.each([
    [
      '{"Time":"2026-01-01T00:00:00Z","ENERGY":{"Power":12.5}}',
      '--topic tele/plug/SENSOR',
      [
        'tele/plug/SENSOR: tasmota',
        '  device plug',
        '  KEY           VALUE  TIME',
        '  ENERGY.Power  12.5   2026-01-01T00:00:00.000Z',
        '  announces plug',
        '    ENERGY.Power: unit W, kind power',
      ],
    ],
    [
      config,
      `--topic ${discovery}`,
      [`${discovery}: tasmota`, '  announces DC4F22000001: name Plug, alias plug'],
    ],
    [
      '{"src":"shellyplus1-a8032ab1","method":"NotifyStatus","params":{"switch:0":{"output":true}}}',
      '--topic porch/events/rpc --format shelly',
      [
        'porch/events/rpc: shelly',
        '  device shellyplus1-a8032ab1 (porch)',
        '  KEY              VALUE  TIME',
        '  switch_0.output  true   receipt time',
        '  announces id porch',
      ],
    ],
    [
      '{"in":3}',
      '--topic garden/pump/pressure --format levels --pattern garden/{device}/{key}',
      [
        'garden/pump/pressure: levels',
        '  device pump',
        '  KEY          VALUE  TIME',
        '  pressure.in  3      receipt time',
      ],
    ],
    [
      'on',
      '--topic states/home/lamp --format tasmota --format levels --pattern states/{device}/{key}',
      ['states/home/lamp: levels', '  device home', '  KEY   VALUE  TIME', '  lamp  "on"   receipt time'],
    ],
    ['unavailable', '--topic stat/plug/POWER --format tasmota', ['stat/plug/POWER: tasmota', '  no reading']],
    ['21', '--topic attic/lamp', ['attic/lamp: no format knows this topic: it is relayed and not read']],
    [
      '21',
      '--topic tele/plug/SENSOR --format shelly',
      ['tele/plug/SENSOR: no format knows this topic: it is relayed and not read'],
    ],
  ])('shows what becomes of %s with %s', async (message, args, lines) => {
    const { code, stdout, stderr } = await explain(message, args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toEqual(lines)
  })

  it.each([
    ['of mosquitto_sub -v', (topic: string, payload: string) => `${topic} ${payload || '(null)'}`],
    ['of JSON', (topic: string, payload: string) => JSON.stringify({ topic, payload })],
  ])('reads lines %s, and learns from each', async (_, lineOf) => {
    const lines = [
      lineOf('tele/plug/LWT', 'Online'),
      lineOf(discovery, config),
      '',
      lineOf('tele/plug/LWT', 'Online'),
      lineOf(discovery, ''),
      lineOf('tele/plug/LWT', 'Online'),
    ]
    const { code, stdout } = await explain(lines.join('\r\n'))
    expect(code).toBe(0)
    expect(stdout.match(/^ {2}(?:device|announces|says) .*/gm)).toEqual([
      '  device plug',
      '  announces DC4F22000001: name Plug, alias plug',
      '  device DC4F22000001 (plug)',
      '  says that DC4F22000001 is gone',
      '  device DC4F22000001 (plug)',
    ])
  })

  it('explains a line before the next one comes', async () => {
    const command = startCommand(['explain', '-'], { input: 'attic/lamp 1\n', isInputOpen: true })
    await command.said(/^attic\/lamp: no format/)
    command.process.stdin?.end('tele/plug/LWT Online\n')
    expect((await command.ended).stdout).toMatch(/^tele\/plug\/LWT: tasmota$/m)
  })

  it('names what is not read and what is refused, stores the rest, and ends with exit status 1', async () => {
    const lines = ['tele/plug/SENSOR no', 'garden', 'tele/plug/SENSOR {"Time":"x","A":{"a":1e999,"b":1}}']
    const { code, stdout, stderr } = await explain(lines.join('\n'))
    expect(code).toBe(1)
    expect(stdout).toMatch(/^ {2}not stored: must be a JSON object, but it is not JSON$/m)
    expect(stdout).toMatch(/^ {2}A\.b +1 +receipt time$/m)
    expect(stdout).toMatch(/^ {2}not stored: A\.a: value must .* \(number_out_of_range\)$/m)
    expect(stderr).toMatch(/^line 2 must be a topic, a space and a payload, /)
    expect(stderr).toMatch(/^thingwire: 3 parts of the messages cannot be read or stored$/m)
  })

  it('keeps bytes that are no UTF-8, and escapes control characters', async () => {
    const message = Buffer.concat([Buffer.from('tele/plug/SENSOR '), Buffer.of(0xff, 0x0a)])
    const unread = await runCommand(['explain', '-'], { input: message })
    expect(unread.stdout).toContain('not stored: must be UTF-8, but it is not')
    const { stdout } = await explain(`${discovery} ${config.replace('"Plug"', '"\\u001b[2J"')}`)
    expect(stdout).toContain('announces DC4F22000001: name \\u001b[2J')
  })

  it('prints a JSON document for each message', async () => {
    const { stdout } = await explain(`${discovery} ${config}\nattic/lamp 1\n`, '--json')
    const none = { readings: [], announced: [], facts: [], gone: [], unread: [] }
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual([
      {
        ...none,
        topic: discovery,
        format: 'tasmota',
        announced: [{ device: 'DC4F22000001', name: 'Plug', alias: 'plug', resources: {} }],
        facts: ['config DC4F22000001'],
      },
      { ...none, topic: 'attic/lamp' },
    ])
  })

  it('says that there is no message', async () => {
    const { code, stderr } = await explain('')
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'thingwire: there is no message\n' })
  })
})
