import {
  aFunction,
  ifGiven,
  objectWith,
  oneOf,
  text,
  wholeNumber,
} from '../../../core/options/option-kinds.ts'

export const levelStoreRules = {
  location: text('the path of a directory'),
  durability: oneOf(['synced', 'written']),
  minFreeSpace: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'bytes'),
  observer: objectWith('an object with the method committed', ['committed']),
  onCreated: aFunction(),
  onNewFormat: aFunction(),
  onLost: aFunction(),
} as const

const { location, ...others } = levelStoreRules
const entries = Object.entries(others).map(([name, rule]) => [name, ifGiven(rule)] as const)

/** Rules for programs that call `createLevelStore`: all options except `location` are optional. */
export const givenLevelStoreRules = { location, ...Object.fromEntries(entries) }
