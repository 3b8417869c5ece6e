import type { Command } from 'commander'
import { UnreachableError } from '../client/client.ts'
import { type ConnectionFlags, connect, withConnection } from '../client/connection.ts'
import { printJson, printLine } from '../output.ts'
import { Progress, sizeText } from '../progress.ts'
import { teach } from '../teach.ts'
import { refuseDirectory, writeWhole } from '../transfer/output-file.ts'

interface Flags extends ConnectionFlags {
  readonly json?: true
}

/** `thingwire backup`. */
export function addBackup(program: Command): void {
  teach(
    withConnection(
      program.command('backup').description('Copy the whole store of a running server into a file.'),
    )
      .argument(
        '<file>',
        'file for the backup; it appears only when it is complete, and replaces an older one',
      )
      .option('--json', 'one JSON document')
      .action(backup),
    {
      examples: [
        ['backup boat.backup', 'a snapshot of everything, while writes go on'],
        ['restore boat.backup --data-dir ./new', 'try the restore before you need it'],
      ],
      notes: [
        'Keep the file secret: docs/reference/storage.md lists the credentials in it. To back up a server on Redis, see docs/use/several-nodes.md.',
      ],
    },
  )
}

async function backup(file: string, flags: Flags): Promise<void> {
  await refuseDirectory(file)
  const client = await connect(flags, 'operator')
  const response = await client.open('/v2/admin/backup', { method: 'POST' })
  const bytes = await save(response, file, client.url)
  if (flags.json) return await printJson({ file, bytes })
  await printLine(`${file}: ${sizeText(bytes)}`)
}

async function save(response: Response, file: string, url: string): Promise<number> {
  const progress = new Progress()
  let bytes = 0
  await writeWhole(file, async append => {
    for await (const part of partsOf(response, url)) {
      await append(part)
      bytes += part.length
      progress.show(() => `${sizeText(bytes)} so far`)
    }
  }).finally(() => progress.clear())
  return bytes
}

/** @throws UnreachableError if it is cut off */
async function* partsOf(response: Response, url: string): AsyncGenerator<Uint8Array> {
  try {
    if (response.body) yield* response.body
  } catch (error) {
    throw new UnreachableError(url, error)
  }
}
