export { type AttachOptions, attachThings } from './attach.ts'
export type { MqttThings } from './mqtt-things.ts'
export { errorsTopic, refOfWriteTopic, valuesTopic, writeTopic } from './topics.ts'
