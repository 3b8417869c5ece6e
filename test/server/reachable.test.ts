import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { linesForDevices, onThisMachine } from '../../src/server/reachable.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

describe('onThisMachine()', () => {
  it.each([
    ['http://0.0.0.0:8080', 'http://127.0.0.1:8080'],
    ['ws://0.0.0.0:8080/mqtt', 'ws://127.0.0.1:8080/mqtt'],
    ['mqtts://[::]:8883', 'mqtts://[::1]:8883'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://192.168.1.7:80', 'http://192.168.1.7:80'],
    ['http://10.0.0.0:80', 'http://10.0.0.0:80'],
    ['https://[2001:db8::]:8443', 'https://[2001:db8::]:8443'],
  ])('makes of %s what a program here connects to', (url, here) => {
    expect(onThisMachine(url)).toBe(here)
  })
})

const interfaces = {
  lo: [address('127.0.0.1', true), address('::1', true)],
  eth0: [address('192.168.1.7'), address('fe80::1'), address('2001:db8::7')],
  wlan0: [address('10.1.2.3')],
}

describe('linesForDevices()', () => {
  const on = (host: string, secureHost?: string) => ({
    url: `http://${host}:8080`,
    mqttUrl: `mqtt://${host}:1883`,
    httpsUrl: secureHost && `https://${secureHost}:8443`,
    mqttsUrl: secureHost && `mqtts://${secureHost}:8883`,
  })

  it.each([
    ['loopback', on('127.0.0.1'), []],
    ['loopback of IPv6', on('[::1]'), []],
    ['one address', on('192.168.1.7'), []],
    [
      'all addresses of IPv4',
      on('0.0.0.0'),
      [
        'Devices on the network of eth0 can reach it at http://192.168.1.7:8080, mqtt://192.168.1.7:1883',
        'Devices on the network of wlan0 can reach it at http://10.1.2.3:8080, mqtt://10.1.2.3:1883',
      ],
    ],
    [
      'all addresses',
      on('[::]'),
      [
        'Devices on the network of eth0 can reach it at http://192.168.1.7:8080, mqtt://192.168.1.7:1883',
        'Devices on the network of eth0 can reach it at http://[2001:db8::7]:8080, mqtt://[2001:db8::7]:1883',
        'Devices on the network of wlan0 can reach it at http://10.1.2.3:8080, mqtt://10.1.2.3:1883',
      ],
    ],
    [
      'all addresses with TLS alone',
      on('127.0.0.1', '0.0.0.0'),
      [
        'Devices on the network of eth0 can reach it at https://192.168.1.7:8443, mqtts://192.168.1.7:8883',
        'Devices on the network of wlan0 can reach it at https://10.1.2.3:8443, mqtts://10.1.2.3:8883',
      ],
    ],
  ])('tells a server on %s the addresses of its devices', (_what, server, lines) => {
    expect(linesForDevices(server, interfaces)).toEqual(lines)
  })

  it('says so where there is no network', () => {
    expect(linesForDevices(on('0.0.0.0'), { lo: interfaces.lo })).toEqual([
      'No device can reach it yet: this machine has no network address',
    ])
  })
})

describe('thingwire serve', () => {
  it.each(['0.0.0.0', '::'])('on %s prints no address that nobody can connect to', async host => {
    const server = await serverOfTest({ args: ['--host', host] })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const { stdout } = await server.stop()
    expect(stdout).not.toMatch(/\/\/(0\.0\.0\.0|\[::\])/)
    expect(stdout).toMatch(
      /^(Devices on the network of \S+ can reach it at http:|No device can reach it yet)/m,
    )
  })

  it('on loopback prints nothing of devices', async () => {
    const server = await startServer({ dataDir: await temporaryDirectory() })
    expect((await server.stop()).stdout).not.toMatch(/device/i)
  })
})

function address(text: string, internal = false): NetworkInterfaceInfo {
  const isV6 = text.includes(':')
  const shared = { address: text, internal, mac: '00:00:00:00:00:00', netmask: '', cidr: null }
  return isV6 ? { ...shared, family: 'IPv6', scopeid: 0 } : { ...shared, family: 'IPv4' }
}
