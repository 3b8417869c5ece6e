import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { isOwnAddress } from '../../../src/server/keeping/forwarding.ts'
import { completeOptions } from '../../../src/server/options/load-options.ts'

describe('isOwnAddress()', () => {
  it.each([
    ['mqtt://127.0.0.1', {}],
    ['mqtt://localhost:1883', {}],
    ['mqtts://localhost', {}],
    ['mqtt://127.0.0.1:1884', { mqttPort: 1884 }],
    ['ws://localhost:8080/mqtt', {}],
    ['wss://localhost:8443/mqtt', { tlsHost: '0.0.0.0' }],
    ['ws://localhost/mqtt', { httpPort: 80 }],
    ['mqtt://127.0.0.1', { host: '0.0.0.0' }],
    ['mqtt://[::1]', { host: '::' }],
    ['mqtt://shed.example', { host: 'shed.example' }],
    [`mqtt://${hostname()}`, { host: '0.0.0.0' }],
    [`mqtt://${hostname()}`, { host: hostname() }],
    ['mqtt://127.0.0.1', { host: 'localhost' }],
  ])('is so of %s with %j', async (url, options) => {
    expect(await isOwnAddress(url, completeOptions(options))).toBe(true)
  })

  it.each([
    ['mqtt://127.0.0.1:1884', {}],
    ['ws://localhost/mqtt', {}],
    ['mqtt://127.0.0.1', { mqttPort: 1884 }],
    ['mqtt://127.0.0.2', {}],
    ['mqtt://127.0.0.1', { host: '192.0.2.1' }],
    ['mqtt://192.0.2.1', { host: '0.0.0.0' }],
    ['mqtt://central.example', {}],
    ['mqtt://central.example', { host: '::' }],
    ['mqtt://central.invalid', { host: '0.0.0.0' }],
  ])('is not so of %s with %j', async (url, options) => {
    expect(await isOwnAddress(url, completeOptions(options))).toBe(false)
  })
})
