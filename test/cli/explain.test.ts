import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { jsonOf, runCommand } from './command.ts'

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
    ['[]', '--format senml', /must be one of value, json, influx \(unknown_format\)/],
  ])('says why %s would be refused with %s', async (message, args, reason) => {
    const { code, stdout, stderr } = await explain(message, args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(reason)
  })

  it.each([[['-']], [['--format', 'json']], [['-', '--format']]])(
    'refuses the command line %j',
    async args => {
      const { code, stdout } = await runCommand(['explain', ...args])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    },
  )
})
