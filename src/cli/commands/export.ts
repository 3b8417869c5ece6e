import type { Command } from 'commander'
import type { ServerClient } from '../client/client.ts'
import { type ConnectionFlags, connect, noteIfSome, serverCommand } from '../client/connection.ts'
import { describeThing, findThing, type ListedThing, type NamedThing } from '../client/named-thing.ts'
import { usageError } from '../exit.ts'
import { counted, grouped, print } from '../output.ts'
import { Progress } from '../progress.ts'
import { listResources, resourcePath } from '../reading/read-records.ts'
import { decoded, linesOf } from '../records/text.ts'
import { documentRecords, isDocument } from '../transfer/documents.ts'
import { exportLine } from '../transfer/exported.ts'
import { refuseNoFile, writeWhole } from '../transfer/output-file.ts'

interface Flags extends ConnectionFlags {
  readonly all?: true
  readonly output?: string
}

type Append = (part: string) => Promise<void>

export function addExport(program: Command): void {
  serverCommand(
    program,
    'export',
    'Write all records of things as NDJSON.',
    {
      examples: [
        ['export boat --output boat.ndjson', 'one thing'],
        ['export --all | gzip > all.ndjson.gz', 'all things, compressed'],
      ],
      notes: [
        'A line is {"thingId","name","key","value","datetime","geo"?}. The records of a resource come oldest first. The last line of $settings, and the last two of $meta, restore the present document. Tokens, sessions and codes are only in a backup.',
      ],
    },
    'report the counts on stderr as JSON',
  )
    .argument('[thing]', "id or unique name; left out with a thing's own token")
    .option('--all', 'all things that the credential may read')
    .option(
      '--output <file>',
      'file for the export, which appears only when it is complete; default stdout, also -',
    )
    .action(exportThings)
}

async function exportThings(named: string | undefined, flags: Flags): Promise<void> {
  const output = flags.output === '-' ? undefined : flags.output
  if (output !== undefined) await refuseNoFile(output)
  if (flags.all && named !== undefined) throw usageError('give either a thing or --all')
  const client = await connect(flags, 'any')
  const progress = new Progress()
  // A program that reads the counts as JSON on stderr must find nothing else there.
  const isShown = !flags.json || process.stderr.isTTY
  if (flags.all && isShown) await noteIfSome(client)
  const counts = { things: 0, resources: 0, records: 0 }
  const fill = async (append: Append): Promise<void> => {
    for await (const thing of thingsToExport(client, named, flags)) {
      counts.things++
      for (const key of await listResources(client, thing.thingId)) {
        counts.resources++
        for await (const lines of exportResource(client, thing, key)) {
          await append(lines.join(''))
          counts.records += lines.length
          if (isShown)
            progress.show(() => `${grouped(counts.records)} records, ${thing.name || thing.thingId} ${key}`)
        }
      }
    }
  }
  await (output === undefined ? fill(print) : writeWhole(output, fill))
  const { things, resources, records } = counts
  const said = `${counted(records, 'record')} in ${counted(resources, 'resource')} of ${counted(things, 'thing')} exported`
  progress.say(flags.json ? JSON.stringify(counts) : said)
}

async function* thingsToExport(
  client: ServerClient,
  named: string | undefined,
  { all }: Flags,
): AsyncGenerator<NamedThing> {
  if (all) return yield* client.list<ListedThing, 'things'>('/v2/things', 'things')
  const thing = await findThing(client, named, ', or --all for all things')
  yield (await describeThing(client, thing.thingId)) ?? thing
}

/** Yields the lines of a resource, several at a time. */
async function* exportResource(
  client: ServerClient,
  thing: NamedThing,
  key: string,
): AsyncGenerator<readonly string[]> {
  if (isDocument(key)) {
    const records = await documentRecords(client, thing.thingId, key)
    return yield records.map(record => exportLine(thing, JSON.stringify(record)))
  }
  const path = resourcePath(thing.thingId, key, { order: 'asc' })
  const response = await client.open(path, { headers: { accept: 'application/x-ndjson' } })
  let lines: string[] = []
  for await (const record of linesOf(decoded(client.partsOf(response)))) {
    lines.push(exportLine(thing, record))
    if (lines.length < 500) continue
    yield lines
    lines = []
  }
  yield lines
}
