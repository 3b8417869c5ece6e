import { describe, expect, it } from 'vitest'
import { serverOfTest } from '../../helpers/of-test.ts'
import { startTls } from '../tls/tls-service.ts'

const warning = /"level":40.*network in clear/

describe('the start', () => {
  it('warns once of listeners beyond loopback without TLS, and names them', async () => {
    const lines = await warningsOf('0.0.0.0')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/"http:\/\/0\.0\.0\.0:\d+","mqtt:\/\/0\.0\.0\.0:\d+"/)
    expect(lines[0]).toContain('tlsCert')
  })

  it('does not warn on loopback', async () => {
    expect(await warningsOf('127.0.0.1')).toEqual([])
  })

  it('warns of what is in clear beside TLS, and not of TLS alone', async () => {
    const both = await startTls({ host: '0.0.0.0' })
    expect(both.log.lines(40)).toEqual([expect.stringMatching(/tlsHost/)])
    const secure = await startTls({ host: '127.0.0.1', tlsHost: '0.0.0.0' })
    expect(secure.log.lines(40)).toEqual([])
  })
})

async function warningsOf(host: string): Promise<string[]> {
  const server = await serverOfTest({ args: ['--host', host] })
  const { stderr } = await server.stop()
  return stderr.split('\n').filter(line => warning.test(line))
}
