export { hostOptions } from './host-options.ts'
export type { HttpThings } from './http-things.ts'
export { type ThingsHttpOptions, thingsHttp } from './plugin.ts'
