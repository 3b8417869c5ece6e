import type { Command } from 'commander'
import type { ServerClient } from '../client/client.ts'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { printResult } from '../output.ts'
import { Progress, sizeText } from '../progress.ts'
import { refuseNoFile, writeWhole } from '../transfer/output-file.ts'

export function addBackup(program: Command): void {
  serverCommand(program, 'backup', 'Copy the whole store of a running server into a file.', {
    examples: [
      ['backup boat.backup', 'a snapshot of everything, while writes continue'],
      ['restore boat.backup --data-dir ./new', 'try the restore before you need it'],
    ],
    notes: [
      'Keep the file secret: docs/reference/storage.md lists the credentials in it. To back up a server on Redis, see docs/use/several-nodes.md.',
    ],
  })
    .argument('<file>', 'file for the backup; it appears only when it is complete, and replaces an older one')
    .action(backup)
}

async function backup(file: string, flags: ConnectionFlags): Promise<void> {
  await refuseNoFile(file)
  const client = await connect(flags, 'operator')
  const response = await client.open('/v2/admin/backup', { method: 'POST' })
  const bytes = await save(client, response, file)
  await printResult(flags, { file, bytes }, `${file}: ${sizeText(bytes)}`)
}

async function save(client: ServerClient, response: Response, file: string): Promise<number> {
  const progress = new Progress()
  let bytes = 0
  await writeWhole(file, async append => {
    for await (const part of client.partsOf(response)) {
      await append(part)
      bytes += part.length
      progress.show(() => `${sizeText(bytes)} so far`)
    }
  }).finally(() => progress.clear())
  return bytes
}
