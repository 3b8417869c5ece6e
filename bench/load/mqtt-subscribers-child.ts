import { answerCommands } from './commands.ts'
import { Gathering } from './gathering.ts'
import { MqttSubscriber } from './mqtt-subscriber.ts'
import type { Subscription } from './mqtt-subscribers.ts'

/** Subscribes, in a process of its own, as `subscribe` says. */

const gathering = new Gathering()
let subscribers: readonly MqttSubscriber[] = []

answerCommands({
  subscribe: async ({ count, clientIdPrefix, ...setup }: Subscription) => {
    const onAnswered = () => gathering.onAnswered()
    subscribers = Array.from({ length: count }, (_, index) => {
      const clientId = `${clientIdPrefix}${index}`
      return new MqttSubscriber({ ...setup, clientId, onAnswered })
    })
    await Promise.all(subscribers.map(subscriber => subscriber.subscribe()))
  },
  received: () => subscribers.reduce((sum, { received }) => sum + received, 0),
  processorTime: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  end: async () => void (await Promise.all(subscribers.map(subscriber => subscriber.end()))),
})
