export { errorsTopic, refOfWriteTopic, valuesTopic, writeTopic } from './topics.ts'
