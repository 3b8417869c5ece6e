import { z } from 'zod'
import {
  aFunction,
  ifGiven,
  objectWith,
  text,
  wholeNumber,
  yesOrNo,
} from '../../../core/options/option-kinds.ts'
import { escapes, parseRedisUrl } from './redis-url.ts'

const url = z.string().refine(text => {
  try {
    return parseRedisUrl(text).length > 0
  } catch {
    return false
  }
})

export const redisStoreRules = {
  url: text(
    `\`redis://[[user]:password@]host[:port][/database]\`, or \`rediss://\` for TLS; for a cluster one or more nodes, separated by commas; ${escapes}`,
    url,
  ),
  prefix: text('a text of at least one character'),
  replicas: wholeNumber(0, 100),
  replicasFsync: yesOrNo(),
  allowUnsafe: yesOrNo(),
  observer: objectWith('an object with the method committed', ['committed']),
  onStatement: aFunction(),
} as const

const { url: address, ...others } = redisStoreRules
const entries = Object.entries(others).map(([name, rule]) => [name, ifGiven(rule)] as const)

/** Rules for a program that calls `createRedisStore`: all options except `url` are optional. The URL may contain a password. */
export const givenRedisStoreRules = {
  url: { ...address, secret: true },
  ...Object.fromEntries(entries),
} as const
