import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  declarationOf,
  environmentName,
  flagName,
  type OptionName,
  optionNames,
  optionsHelp,
} from '../../../src/server/options/options.ts'

const defaults = Object.fromEntries(optionNames.map(name => [name, declarationOf(name).default]))

async function shipped(file: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`../../../config/${file}`, import.meta.url), 'utf8'))
}

describe('options', () => {
  it.each(optionNames)('the default of %s keeps its own rule', name => {
    const { schema, default: value } = declarationOf(name)
    expect(schema.safeParse(value).success).toBe(true)
  })

  // After a change of an option, `npx vitest run test/server/options/options.test.ts -u` writes the file anew.
  it('optionsTable() is docs/reference/options.md', async () => {
    await expect(optionsTable()).toMatchFileSnapshot('../../../docs/reference/options.md')
  })

  it('optionsHelp() names a default of each option that has one, and of no other', () => {
    const lines = optionsHelp().split('\n')
    expect(lines.find(line => line.includes('--http-port'))).toMatch(/ Default 8080\.$/)
    expect(lines.find(line => line.includes('--tls-cert'))).not.toContain('Default')
  })

  it('config/default.json holds the defaults, every one that has a value', async () => {
    expect(await shipped('default.json')).toEqual(JSON.parse(JSON.stringify(defaults)))
  })

  it('config/cluster.json holds a Redis, and the defaults but for those of the embedded store', async () => {
    const redisUrl = 'redis://127.0.0.1:6379'
    const ofEmbedded: Partial<Record<OptionName, undefined>> = {
      dataDir: undefined,
      durability: undefined,
      minFreeSpace: undefined,
      forwardLogLimit: undefined,
    }
    const expected = { ...defaults, ...ofEmbedded, redisUrl }
    expect(await shipped('cluster.json')).toEqual(JSON.parse(JSON.stringify(expected)))
    expect(declarationOf('redisUrl').schema.safeParse(redisUrl).success).toBe(true)
  })

  it.each(['redis://127.0.0.1', 'rediss://user:pass%20word@[::1]:7000/3', 'redis://a:7000,redis://b:7001'])(
    'redisUrl can be %s',
    url => {
      expect(declarationOf('redisUrl').schema.safeParse(url).success).toBe(true)
    },
  )

  it.each(['', '127.0.0.1:6379', 'http://127.0.0.1', 'redis://a/x', 'redis://a:7000/1,redis://b'])(
    'redisUrl can not be "%s"',
    url => {
      expect(declarationOf('redisUrl').schema.safeParse(url).success).toBe(false)
    },
  )

  it('environmentName() and flagName() are derived from the name', () => {
    expect(environmentName('allowThingDelete')).toBe('THINGWIRE_ALLOW_THING_DELETE')
    expect(flagName('allowThingDelete')).toBe('allow-thing-delete')
  })
})

/** The text of `docs/reference/options.md`. */
function optionsTable(): string {
  return `# Options

This page is generated from \`src/server/options/options.ts\`. The server looks for a value in this order: command line,
environment, file, default. The file is \`--config <file>\` or \`THINGWIRE_CONFIG\`, else \`config/default.json\`; its names
are those of the first column. An empty variable counts as not set. On the command line and in the environment, commas
separate the items of a list.

| option | environment | command line | must be | default | meaning | why this default |
|---|---|---|---|---|---|---|
${optionNames.map(row).join('\n')}
`
}

function row(name: OptionName): string {
  const { rule, meaning, reason, secret, default: given } = declarationOf(name)
  const flag = secret ? 'no: other users could read it' : `\`--${flagName(name)}\``
  const value = given === undefined ? 'none' : `\`${given}\``
  return `| \`${name}\` | \`${environmentName(name)}\` | ${flag} | ${rule} | ${value} | ${meaning} | ${reason} |`
}
