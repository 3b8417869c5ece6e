import type { Command } from 'commander'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { called, resourceNamed } from '../client/named-thing.ts'
import { usageError } from '../exit.ts'
import { printResult, table, valueText } from '../output.ts'
import { type Description, readDescriptions } from '../reading/descriptions.ts'
import { knownKeys } from '../reading/read-records.ts'

/** What a person may set, each with a flag of this name. */
const members = ['name', 'unit', 'kind', 'total', 'decimals', 'hidden'] as const
type Member = (typeof members)[number]

interface Flags extends ConnectionFlags, Partial<Readonly<Record<Member, string>>> {
  readonly remove?: true
}

export function addDescribe(program: Command): void {
  serverCommand(program, 'describe', 'Show or set names, units and decimals of the resources of a thing.', {
    examples: [
      ['describe boat', 'the descriptions of all its resources'],
      ['describe boat depth --name "Depth under keel" --unit m --decimals 1', 'how people see a resource'],
      ["describe boat depth --unit ''", 'the unit is removed'],
      ['describe boat depth --remove', 'the whole description is removed'],
    ],
    notes: [
      'The descriptions are the magic resource $meta. A value that is not given stays as it is, and an empty one is removed. A discovery does not change what is set here, nor bring back what is removed here; after --remove a discovery that has changed may set all again. The column discovered names what a discovery has set.',
    ],
  })
    .argument('[thing]', "id or unique name; left out with a thing's own token")
    .argument('[key]', 'key of the resource')
    .option('--name <name>', 'name for people, at most 100 characters')
    .option('--unit <unit>', 'unit of the values, at most 32 characters, such as °C')
    .option('--kind <kind>', 'a device class of Home Assistant, such as temperature, or any other word')
    .option('--total <true|false>', 'whether the value is a counter that only grows')
    .option('--decimals <n>', 'how many decimals people see, 0 to 10')
    .option('--hidden <true|false>', 'whether people see the resource only where they ask for it')
    .option('--remove', 'remove the whole description')
    .action(describe)
}

async function describe(first: string | undefined, second: string | undefined, flags: Flags): Promise<void> {
  const patch = patchOf(flags)
  const client = await connect(flags, 'any')
  const { thing, key } = await resourceNamed(client, first, second)
  const { thingId } = thing
  if (patch === undefined) {
    const all = Object.entries(await readDescriptions(client, thingId)).sort(([a], [b]) => (a < b ? -1 : 1))
    const shown = key === undefined ? all : all.filter(([each]) => each === key)
    const none = `${called(thing)} has no description${key === undefined ? 's yet' : ` of ${key}`}`
    const text = shown.length === 0 ? none : table(['key', ...members, 'discovered'], shown.map(rowOf))
    return await printResult(flags, { thingId, descriptions: Object.fromEntries(shown) }, text)
  }
  if (key === undefined)
    throw usageError('give the key of the resource: thingwire describe <thing> <key> --unit °C')
  await client.post(`/v2/things/${thingId}`, { values: [{ key: '$meta', value: { [key]: patch } }] })
  const { unknown, has } = await knownKeys(client, thingId, [key])
  if (unknown.length > 0) console.error(`thingwire: note: no record of ${key} yet: ${has}`)
  const done = patch === null ? 'the description is removed' : 'described'
  await printResult(flags, { thingId, key, patch }, `${key} of ${called(thing)}: ${done}`)
}

function rowOf([key, { discovered = [], ...others }]: readonly [string, Description]): string[] {
  return [
    key,
    ...members.map(name => valueText(others[name] ?? '')),
    discovered.filter(name => Object.hasOwn(others, name)).join(', '),
  ]
}

/** @returns null to remove the description; undefined if no flag asks for a change @throws CommandError usage */
function patchOf(flags: Flags): object | null | undefined {
  const given = members.flatMap(name => {
    const text = flags[name]
    return text === undefined ? [] : [[name, text === '' ? null : memberOf(name, text)]]
  })
  if (!flags.remove) return given.length === 0 ? undefined : Object.fromEntries(given)
  if (given.length > 0) throw usageError('--remove cannot be combined with what is to be set')
  return null
}

/** @throws CommandError usage */
function memberOf(name: Member, text: string): unknown {
  if (name === 'total' || name === 'hidden') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw usageError(`--${name} must be true or false, but it is ${text}`)
  }
  if (name !== 'decimals') return text
  if (/^(\d|10)$/.test(text)) return Number(text)
  throw usageError(`--decimals must be a whole number from 0 to 10, but it is ${text}`)
}
