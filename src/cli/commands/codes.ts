import type { Command } from 'commander'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { usageError } from '../exit.ts'
import { printResult, table } from '../output.ts'

interface ListedCode {
  readonly activationCode: string
  readonly createdAt: string
  readonly usesLeft: number
}

export function addCodes(program: Command): void {
  const codes = program
    .command('codes')
    .description('Activation codes: a device registers itself with a code and gets its token.')

  serverCommand(codes, 'create', 'Create activation codes.', {
    examples: [
      ['codes create', 'one code for one device'],
      ['codes create --count 100 > codes.txt', 'codes for a hundred devices, one a line'],
    ],
  })
    .option('--count <n>', 'how many codes, 1 to 1000', '1')
    .option('--uses <n>', 'how many devices may use each, 1 to 1000000', '1')
    .action(create)
  serverCommand(codes, 'list', 'List the codes that can still be used.', {
    examples: [
      ['codes list', 'the codes, and how often each can still be used'],
      ['codes list --json', 'the same for a program'],
    ],
  }).action(list)
  serverCommand(codes, 'delete', 'Delete a code; the things that used it stay.', {
    examples: [
      ['codes delete 3YkV0c9mD1-nB7wT5xQ2hJ8rLfUaZeG6sO', 'no device can use it from now on'],
      ['codes list', 'shows the codes'],
    ],
  })
    .argument('<code>', 'code, as codes list shows it')
    .action(remove)
}

async function create(
  flags: ConnectionFlags & { readonly count: string; readonly uses: string },
): Promise<void> {
  const body = {
    count: wholeNumber('--count', flags.count, 1_000),
    uses: wholeNumber('--uses', flags.uses, 1_000_000),
  }
  const client = await connect(flags, 'operator')
  const { activationCodes } = await client.post<{ activationCodes: string[] }>(
    '/v2/admin/activation-codes',
    body,
  )
  await printResult(flags, { activationCodes }, activationCodes.join('\n'))
}

async function list(flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const { activationCodes } = await client.call<{ activationCodes: ListedCode[] }>(
    '/v2/admin/activation-codes',
  )
  const rows = activationCodes.map(code => [code.activationCode, code.createdAt, String(code.usesLeft)])
  await printResult(flags, { activationCodes }, table(['code', 'created', 'uses left'], rows))
}

async function remove(code: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  await client.call(`/v2/admin/activation-codes/${encodeURIComponent(code)}`, { method: 'DELETE' })
  await printResult(flags, { deleted: 1 }, 'the code is deleted')
}

function wholeNumber(flag: string, text: string, most: number): number {
  if (/^[1-9]\d*$/.test(text) && Number(text) <= most) return Number(text)
  throw usageError(`${flag} must be a whole number from 1 to ${most}, but it is ${text}`)
}
