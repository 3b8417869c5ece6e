import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { runCli } from '../helpers/server-process.ts'
import { Evidence } from './evidence.ts'
import { jsonEscaped, percentEncoded } from './forms.ts'

const spellings: Readonly<Record<string, (secret: string) => string>> = {
  whole: secret => `no: ${secret}`,
  'percent-encoded': secret => `GET /${percentEncoded(secret)}`,
  'in JSON escapes': secret => `{"authorization":"${jsonEscaped(secret)}"}`,
  'in base64': secret => `Basic ${Buffer.from(`:${secret}`).toString('base64')}`,
}
const commands = [
  ['things', 'list'],
  ['read', 'aaaaaaaaaaaaaaaa', 'n'],
  ['write', 'aaaaaaaaaaaaaaaa', 'n=1'],
  ['doctor'],
  ['forwarding', '--json'],
]

describe('a command that asks something else than its server', () => {
  it.each([
    ['a token', createToken()],
    ['an admin key of words', 'correct.horse/battery.staple!lamp'],
  ])('does not say %s that is in the answer', async (_, secret) => {
    const evidence = new Evidence()
    evidence.addSecret('credential', secret)
    for (const [spelling, spelled] of Object.entries(spellings)) {
      const url = await echoingServer(spelled)
      const environment = { THINGWIRE_URL: url, THINGWIRE_ADMIN_KEY: secret }
      const exits = await Promise.all(commands.map(args => runCli({ args, environment })))
      for (const { code, stdout, stderr } of exits) {
        expect(code).not.toBe(0)
        evidence.add('told', spelling, stdout + stderr)
      }
      expect(evidence.holds('told', spelling, '[redacted]')).toBe(true)
    }
    expect(evidence.leaks()).toEqual([])
  })
})

/** Refuses everything with the credential that it got. @returns its URL */
async function echoingServer(spelled: (secret: string) => string): Promise<string> {
  const server = createServer((request, response) => {
    const message = spelled(`${request.headers.authorization}`.replace(/^Bearer /, ''))
    const errors = [{ index: 0, field: message, reason: message, message }, null, 5]
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ status: 'error', code: 400, reason: message, message, errors }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
