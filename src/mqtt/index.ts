export { attachThings } from './attach.ts'
export type { AttachOptions } from './attach-options.ts'
export type { MqttThings } from './mqtt-things.ts'
export { errorsTopic, refOfWriteTopic, valuesTopic, writeTopic } from './topics.ts'
