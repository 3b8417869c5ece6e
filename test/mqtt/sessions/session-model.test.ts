import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, writeTopicOf } from '../door-service.ts'
import { isMark, messagesOf, passed, post } from '../messages.ts'

const keys = ['a', 'b'] as const
const rests = ['values/a', 'values/b', 'values/+', '+/b', '#', 'v2'] as const

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      is: fc.constant('write' as const),
      keys: fc.array(fc.constantFrom(...keys), { minLength: 1, maxLength: 3 }),
      door: fc.constantFrom('HTTP', 'MQTT'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('subscribe' as const),
      rest: fc.constantFrom(...rests),
      qos: fc.constantFrom(0 as const, 1 as const, 2 as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant('unsubscribe' as const), rest: fc.constantFrom(...rests) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant('delete' as const), key: fc.constantFrom(...keys) }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('leave' as const), politely: fc.boolean() }) },
  { weight: 3, arbitrary: fc.constant({ is: 'return' as const }) },
  { weight: 1, arbitrary: fc.constant({ is: 'restart' as const }) },
)

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

/** What a session is to be sent, in the plainest words. */
class Model {
  isConnected = false
  /** Since it was last looked at, `<topic> <value>`; without a value where nothing is left. */
  expected: string[] = []
  readonly #filters = new Map<string, number>()
  readonly #present = new Set<string>()

  subscribe(rest: string, qos: number): void {
    this.#filters.set(rest, qos)
  }

  unsubscribe(rest: string): void {
    this.#filters.delete(rest)
  }

  write(keys: readonly string[], value: number): void {
    for (const key of keys) {
      this.#present.add(key)
      this.#tell(`values/${key}`, `values/${key} ${value}`)
    }
    this.#tell('v2', `v2 ${keys.map(() => value)}`)
  }

  delete(key: string): void {
    if (this.#present.delete(key)) this.#tell(`values/${key}`, `values/${key}`)
  }

  #tell(topic: string, message: string): void {
    const matching = [...this.#filters].filter(([rest]) => isMatch(rest, topic)).map(([, qos]) => qos)
    if (matching.length > 0 && (this.isConnected || Math.max(...matching) > 0)) this.expected.push(message)
  }
}

function isMatch(rest: string, topic: string): boolean {
  if (rest === '#') return topic !== 'v2'
  const [levels, topicLevels] = [rest.split('/'), topic.split('/')]
  return (
    levels.length === topicLevels.length &&
    levels.every((level, place) => level === '+' || level === topicLevels[place])
  )
}

/** One session of a thing that does what the steps say, held against the model. */
class Run {
  #service: DoorService
  readonly #thing: Thing
  readonly #model = new Model()
  #client: MqttClient | undefined
  #value = 0

  constructor(service: DoorService, thing: Thing) {
    this.#service = service
    this.#thing = thing
  }

  get service(): DoorService {
    return this.#service
  }

  async take(step: Step): Promise<void> {
    const client = this.#client
    if (step.is === 'write') return await this.#write(step.keys, step.door)
    if (step.is === 'delete') return await this.#delete(step.key)
    if (step.is === 'return') return await this.#return()
    if (step.is === 'restart') {
      await this.leave(true)
      this.#service = await this.#service.restart()
    } else if (step.is === 'leave') {
      await this.leave(step.politely)
    } else if (client && step.is === 'subscribe') {
      expect(await client.subscribe(this.#filter(step.rest), step.qos)).toBe(step.qos)
      this.#model.subscribe(step.rest, step.qos)
    } else if (client && step.is === 'unsubscribe') {
      await client.unsubscribe(this.#filter(step.rest))
      this.#model.unsubscribe(step.rest)
    }
  }

  /** When it has everything, and has acknowledged it. */
  async leave(politely: boolean): Promise<void> {
    const client = this.#client
    if (!client) return
    await passed(this.#service, this.#thing, client)
    const told = messagesOf(client).filter(message => !isMark(message) && !message.retain)
    const seen = told.map(({ topic, payload }) => {
      if (topic.startsWith('v2'))
        return `v2 ${JSON.parse(payload).map(({ value }: { value: unknown }) => value)}`
      const rest = topic.split('/').slice(2).join('/')
      return payload === '' ? rest : `${rest} ${JSON.parse(payload).value}`
    })
    expect(seen).toEqual(this.#model.expected)
    this.#model.expected = []
    this.#model.isConnected = false
    this.#client = undefined
    if (politely) await client.disconnect()
    else await client.destroy()
  }

  async #return(): Promise<void> {
    if (this.#client) return
    this.#client = await this.#service.connectThing(this.#thing, { clientId: 'board', clean: false })
    this.#model.isConnected = true
    await this.#client.subscribe(this.#filter('values/mark'))
  }

  async #write(keys: readonly string[], door: string): Promise<void> {
    const value = ++this.#value
    const body = { values: keys.map(key => ({ key, value })) }
    if (door === 'HTTP') await post(this.#service, this.#thing, body)
    else {
      const writer = await this.#service.connectThing(this.#thing)
      await writer.publish(writeTopicOf(this.#thing.thingId), body)
      await writer.disconnect()
    }
    this.#model.write(keys, value)
  }

  async #delete(key: string): Promise<void> {
    const { url, adminKey } = this.#service
    const path = `${url}/v2/things/${this.#thing.thingId}/resources/${key}`
    const headers = { authorization: `Bearer ${adminKey}` }
    expect([200, 404]).toContain((await fetch(path, { method: 'DELETE', headers })).status)
    this.#model.delete(key)
  }

  #filter(rest: string): string {
    const { thingId } = this.#thing
    return rest === 'v2' ? `v2/things/${thingId}` : `things/${thingId}/${rest}`
  }
}

it('a session gets what its filters select: all of it while it is there, and what is at QoS 1 of what it missed', async () => {
  let service = await DoorService.start()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async steps => {
      const run = new Run(service, await service.createThing())
      await run.take({ is: 'return' })
      for (const step of steps) await run.take(step)
      await run.take({ is: 'return' })
      await run.leave(true)
      service = run.service
    }),
    { numRuns: 20, interruptAfterTimeLimit: 40_000 },
  )
})
