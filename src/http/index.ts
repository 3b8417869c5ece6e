export { hostOptions } from './host-options.ts'
export { type ThingsHttpOptions, thingsHttp } from './plugin.ts'
export type { HttpThings } from './things.ts'
