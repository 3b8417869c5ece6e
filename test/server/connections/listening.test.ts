import { describe, expect, it } from 'vitest'
import { isLoopback } from '../../../src/access/limits/address-key.ts'
import { listenProblem, urlOf } from '../../../src/server/connections/listening.ts'

describe('urlOf()', () => {
  it('puts an IPv6 address into brackets', () => {
    expect(urlOf('mqtt', { address: '::1', family: 'IPv6', port: 1883 })).toBe('mqtt://[::1]:1883')
    expect(urlOf('http', { address: '127.0.0.1', family: 'IPv4', port: 80 })).toBe('http://127.0.0.1:80')
  })
})

describe('listenProblem()', () => {
  it.each([
    ['EADDRINUSE', /^port 1883 \(THINGWIRE_M\) on nowhere .* --mqtt-port or THINGWIRE_MQTT_PORT$/],
    ['EACCES', /^port 1883 \(THINGWIRE_M\) on nowhere .* --mqtt-port or THINGWIRE_MQTT_PORT$/],
    ['ENOTFOUND', /^nowhere \(host in a file\) is not an address .* --host or THINGWIRE_HOST$/],
    ['EADDRNOTAVAIL', /^nowhere \(host in a file\) is not an address .* --host or THINGWIRE_HOST$/],
    ['EOTHER', /port 1883 \(THINGWIRE_M\) .*--mqtt-port or THINGWIRE_MQTT_PORT.*why/],
  ])('names the option behind %s as it is typed, and what set it', (code, line) => {
    const problem = Object.assign(new Error('why'), { code })
    const from = (name: string) => (name === 'host' ? 'host in a file' : 'THINGWIRE_M')
    const endpoint = {
      host: 'nowhere',
      hostOption: 'host',
      port: 1883,
      portOption: 'mqttPort',
      from,
    } as const
    expect(listenProblem(problem, endpoint)).toMatch(line)
  })

  it('names tlsHost where that is the address', () => {
    const problem = Object.assign(new Error('why'), { code: 'EADDRNOTAVAIL' })
    const at = { host: 'nowhere', hostOption: 'tlsHost', port: 8883, portOption: 'mqttsPort' } as const
    const endpoint = { ...at, from: String }
    expect(listenProblem(problem, endpoint)).toMatch(/^nowhere .* --tls-host or THINGWIRE_TLS_HOST$/)
  })
})

describe('isLoopback()', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('takes %s for loopback', address => {
    expect(isLoopback(address)).toBe(true)
  })

  it.each(['0.0.0.0', '::', '192.168.1.7', '::ffff:10.0.0.1', 'fe80::1'])(
    'does not take %s for it',
    address => {
      expect(isLoopback(address)).toBe(false)
    },
  )
})
