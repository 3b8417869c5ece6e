import mqtt, { type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import type { SourceOptions } from '../../src/access/access.ts'
import { DoorService, type DoorServiceOptions } from '../mqtt/door-service.ts'

/** A source of a server, and how its devices reach the server. */
export class House {
  #service: DoorService
  readonly sourceId: string
  token: string

  private constructor(service: DoorService, sourceId: string, token: string) {
    this.#service = service
    this.sourceId = sourceId
    this.token = token
  }

  static async open(options: DoorServiceOptions = {}, terms: Partial<SourceOptions> = {}): Promise<House> {
    const service = await DoorService.start(options)
    const { sourceId, sourceToken } = await service.things.sources.create({ name: 'house', ...terms })
    return new House(service, sourceId, sourceToken)
  }

  async connect(clientId: string, options: mqtt.IClientOptions = {}): Promise<MqttClient> {
    const { mqttUrl: url } = this.#service
    const login = { username: 'house', password: this.token }
    const client = await mqtt.connectAsync(url, { clientId, ...login, ...options }, false)
    onTestFinished(() => client.endAsync(true))
    return client
  }

  /** Connects a client whose session is kept. @returns the topic of the first message that the session has for it */
  async firstMessage(clientId: string, options: mqtt.IClientOptions): Promise<string> {
    const login = { username: 'house', password: this.token }
    const client = mqtt.connect(this.#service.mqttUrl, { clientId, ...login, ...options, reconnectPeriod: 0 })
    onTestFinished(() => client.endAsync(true))
    return await new Promise(resolve => client.once('message', resolve))
  }

  /** The records of each thing by its name, oldest first. */
  async records(): Promise<Record<string, Record<string, readonly unknown[]>>> {
    const { things } = await this.#service.things.registry.list({ limit: 1000 })
    const all: Record<string, Record<string, readonly unknown[]>> = {}
    for (const { thingId, name } of things) {
      const keys = await this.#service.things.records.resources(thingId)
      const ofThing: Record<string, readonly unknown[]> = {}
      for (const key of keys) ofThing[key] = await this.#service.values({ thingId, thingToken: '' }, key)
      all[name] = ofThing
    }
    return all
  }

  async meta(name: string): Promise<unknown> {
    const [thing] = await this.#service.things.registry.named(name)
    const state = await this.#service.things.records.state(thing?.thingId ?? '', '$meta')
    return state && JSON.parse(state.value)
  }

  async restart(): Promise<void> {
    this.#service = await this.#service.restart()
  }

  /** Its devices go to another node from now on. */
  async moveTo(options: DoorServiceOptions): Promise<void> {
    this.#service = await DoorService.start({ adminKey: this.#service.adminKey, ...options })
  }

  async renewPassword(): Promise<void> {
    this.token = (await this.#service.things.sources.renewToken(this.sourceId)).sourceToken
  }

  async remove(): Promise<void> {
    await this.#service.things.sources.remove(this.sourceId)
  }

  async errors(): Promise<readonly string[]> {
    const listed = await this.#service.things.refused.list(this.sourceId, 100)
    return listed.map(({ reason, message }) => `${reason}: ${message}`)
  }
}

/** The list of devices of Zigbee2MQTT. @param names by IEEE address */
export function bridgeDevices(names: Readonly<Record<string, string>>): string {
  const exposes = [{ type: 'numeric', property: 'power', unit: 'W', access: 1 }]
  return JSON.stringify(
    Object.entries(names).map(([ieee_address, friendly_name]) => ({
      ...{ ieee_address, friendly_name, type: 'Router', supported: true, interview_completed: true },
      definition: { model: 'x', vendor: 'y', description: 'z', exposes },
    })),
  )
}
