import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { declarationOf, environmentName, flagName, optionNames } from '../../src/server/options.ts'
import { optionsTable } from '../../src/server/options-table.ts'

describe('options', () => {
  it.each(optionNames)('the default of %s keeps its own rule', name => {
    const { schema, default: value } = declarationOf(name)
    expect(schema.safeParse(value).success).toBe(true)
  })

  // After a change of an option, `npx vitest run test/server/options.test.ts -u` writes the file anew.
  it('optionsTable() is docs/options.md', async () => {
    await expect(optionsTable()).toMatchFileSnapshot('../../docs/options.md')
  })

  it('config/default.json holds the defaults, every one that has a value', async () => {
    const config = await readFile(new URL('../../config/default.json', import.meta.url), 'utf8')
    const defaults = Object.fromEntries(optionNames.map(name => [name, declarationOf(name).default]))
    expect(JSON.parse(config)).toEqual(JSON.parse(JSON.stringify(defaults)))
  })

  it('environmentName() and flagName() are derived from the name', () => {
    expect(environmentName('allowThingDelete')).toBe('THINGWIRE_ALLOW_THING_DELETE')
    expect(flagName('allowThingDelete')).toBe('allow-thing-delete')
  })
})
