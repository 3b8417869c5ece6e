import type { Command } from 'commander'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { thingCalled } from '../client/named-thing.ts'
import { refuseToken } from '../exit.ts'
import { printResult, table } from '../output.ts'

interface ListedToken {
  readonly tokenId: string
  readonly createdAt: string
  readonly used: boolean
}

const thing = ['<thing>', 'id, or a name that is unique'] as const

export function addTokens(program: Command): void {
  const tokens = program.command('tokens').description('Add, list and revoke the tokens of a thing.')

  serverCommand(tokens, 'add', 'Add a token to a thing and show it once.', {
    examples: [
      ['tokens add boat', 'a second token; the first one stays valid'],
      ['tokens add boat --json | jq -r .thingToken > boat.token', 'only the token, into a file'],
    ],
    notes: [
      'To replace a token without losing a reading: add a token, give it to the device, wait until tokens list shows it as used, revoke the old one.',
    ],
  })
    .argument(...thing)
    .action(add)
  serverCommand(tokens, 'list', 'List the ids of the tokens of a thing.', {
    examples: [
      ['tokens list boat', 'the ids, and whether each token was ever used'],
      ['tokens list boat --json', 'the same for a program'],
    ],
  })
    .argument(...thing)
    .action(list)
  serverCommand(tokens, 'revoke', 'End a token; its connections close within a second.', {
    examples: [
      ['tokens revoke boat q3v5k2a7', 'this token is refused from now on'],
      ['tokens add boat', 'do this first, so that the device stays connected'],
    ],
  })
    .argument(...thing)
    .argument('<tokenId>', 'id, as tokens list shows it')
    .action(revoke)
}

async function add(named: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const { thingId } = await thingCalled(client, named)
  const path = `/v2/admin/things/${thingId}/tokens`
  const { thingToken, tokenId } = await client.post<{ thingToken: string; tokenId: string }>(path, {})
  const text = `id    ${tokenId}\ntoken ${thingToken}\nThe token is shown only once.`
  await printResult(flags, { thingId, tokenId, thingToken }, text)
}

async function list(named: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const { thingId } = await thingCalled(client, named)
  const { tokens } = await client.call<{ tokens: ListedToken[] }>(`/v2/admin/things/${thingId}/tokens`)
  const rows = tokens.map(({ tokenId, createdAt, used }) => [tokenId, createdAt, used ? 'yes' : 'no'])
  await printResult(flags, { thingId, tokens }, table(['token id', 'created', 'used'], rows))
}

async function revoke(named: string, tokenId: string, flags: ConnectionFlags): Promise<void> {
  refuseToken(tokenId, 'give the id of the token, which thingwire tokens list shows')
  const client = await connect(flags, 'operator')
  const { thingId } = await thingCalled(client, named)
  await client.call(`/v2/admin/things/${thingId}/tokens/${encodeURIComponent(tokenId)}`, { method: 'DELETE' })
  await printResult(flags, { thingId, tokenId }, `token ${tokenId} of ${thingId} is revoked`)
}
