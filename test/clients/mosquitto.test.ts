import { describe, expect, it } from 'vitest'
import type { Exit } from '../helpers/child.ts'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { Program } from './program.ts'
import { bodies, body, storedValues, valuesOnceStored, valuesTo } from './stored.ts'

const server = serverOfTests()
const mosquittoPub = { command: 'mosquitto_pub', debianPackage: 'mosquitto-clients' }
/** By lines, so that what it says is heard when it says it. */
const mosquittoSub = { command: 'stdbuf', debianPackage: 'coreutils mosquitto-clients' }
const versions = ['mqttv31', 'mqttv311', 'mqttv5']
const each = versions.flatMap(version => ['0', '1', '2'].map(qos => [version, qos] as const))
const clean: Partial<Exit> = { code: 0, signal: null }

function address(): string[] {
  const { hostname, port } = new URL(server().mqttUrl)
  return ['-h', hostname, '-p', port]
}

const writeTopic = ({ thingToken }: Thing) => `things/${thingToken}/write`

describe('mosquitto_pub', () => {
  it.each(each)('-V %s -q %s writes without a credential in CONNECT', async (version, qos) => {
    const thing = await createThing(server())
    const message = body('temperature', 21.5)
    const args = [...address(), '-V', version, '-q', qos, '-t', writeTopic(thing), '-m', message]
    expect(await new Program(mosquittoPub, args).exited).toMatchObject(clean)
    expect(await valuesOnceStored(server(), thing, 'temperature', 1)).toEqual([21.5])
  })

  it.each(each)('-V %s -q %s -l writes every line in order', async (version, qos) => {
    const thing = await createThing(server())
    const lines = `${bodies('n', 300).join('\n')}\n`
    const credential = ['-u', thing.thingToken]
    const topic = `things/${thing.thingId}/write`
    const args = [...address(), '-V', version, '-q', qos, ...credential, '-t', topic, '-l']
    const device = new Program(mosquittoPub, args, lines)
    expect(await valuesOnceStored(server(), thing, 'n', 300)).toEqual(valuesTo(300))
    // One whose input ends while it still sends may wait for ever (mosquitto's issue 1448).
    expect(await device.closeInput().exited).toMatchObject(clean)
  })

  it.each(each)('-V %s --will-qos %s has its will written when it is killed', async (version, qos) => {
    const thing = await createThing(server())
    const will = [
      '--will-topic',
      writeTopic(thing),
      '--will-payload',
      body('will', 'gone'),
      '--will-qos',
      qos,
    ]
    const args = [...address(), '-V', version, '-q', '1', '-t', writeTopic(thing), '-l', ...will]
    const device = new Program(mosquittoPub, args, `${body('state', 'here')}\n`)
    await valuesOnceStored(server(), thing, 'state', 1)
    await device.end('SIGKILL')
    expect(await valuesOnceStored(server(), thing, 'will', 1)).toEqual(['gone'])
  })

  it('that ends by itself has no will written', async () => {
    const thing = await createThing(server())
    const will = ['--will-topic', writeTopic(thing), '--will-payload', body('state', 'gone')]
    const args = [...address(), '-q', '1', '-t', writeTopic(thing), '-m', body('state', 'here'), ...will]
    expect(await new Program(mosquittoPub, args).exited).toMatchObject(clean)
    const next = [...address(), '-q', '1', '-t', writeTopic(thing), '-m', body('state', 'back')]
    expect(await new Program(mosquittoPub, next).exited).toMatchObject(clean)
    expect(await storedValues(server(), thing, 'state')).toEqual(['here', 'back'])
  })

  it.each(versions)('-V %s with a token that no thing has is told that it is refused', async version => {
    const topic = `things/${'A'.repeat(43)}/write`
    const credential = ['-u', 'A'.repeat(43)]
    const args = [...address(), '-V', version, '-q', '1', ...credential, '-t', topic, '-m', body('n', 1)]
    const { code, output } = await new Program(mosquittoPub, args).exited
    expect({ hasFailed: code !== 0, output }).toEqual({
      hasFailed: true,
      output: expect.stringMatching(/bad user ?name or password/i),
    })
  })
})

describe('mosquitto_rr', () => {
  const installed = { command: 'mosquitto_rr', debianPackage: 'mosquitto-clients' }

  // Only version 5 has a Response Topic, on which the answer of HTTP comes.
  it.each([
    ['mqttv311', 'values/n', { key: 'n', value: 5 }],
    ['mqttv5', 'answers/rr', { status: 'created' }],
  ])('-V %s writes, and has on %s what comes of it', async (version, place, answer) => {
    const thing = await createThing(server())
    const answers = `things/${thing.thingToken}/${place}`
    const args = [...address(), '-V', version, '-q', '1', '-u', thing.thingToken, '-W', '60']
    const message = ['-t', writeTopic(thing), '-e', answers, '-m', body('n', 5)]
    const { code, stdout, stderr } = await new Program(installed, [...args, ...message]).exited
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject(answer)
  })
})

describe('mosquitto_sub', () => {
  it.each(versions)('-V %s is told of the write that mosquitto_pub sent in vain', async version => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/errors`
    const args = [...address(), '-V', version, '-q', '1', '-t', topic, '-C', '1', '-d']
    const dashboard = new Program(mosquittoSub, ['-oL', 'mosquitto_sub', ...args])
    await dashboard.said(/Subscribed/)
    const bad = [...address(), '-V', version, '-q', '1', '-t', writeTopic(thing), '-m', body('not a key', 1)]
    expect(await new Program(mosquittoPub, bad).exited).toMatchObject(clean)
    expect(await dashboard.exited).toMatchObject({ code: 0, output: expect.stringContaining('invalid_key') })
  })
})
