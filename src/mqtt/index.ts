export { type AttachOptions, attachThings } from './attach.ts'
export type { MqttThings } from './things.ts'
export { errorsTopic, refOfWriteTopic, valuesTopic, writeTopic } from './topics.ts'
