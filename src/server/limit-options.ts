import { defaultLimits } from '../access/limits.ts'
import { type OptionDeclaration, wholeNumber } from './option-kinds.ts'

/** The options that limit what one thing, one connection or one address may take (contract §9). */
export const limitDeclarations = {
  writesPerSecond: {
    ...wholeNumber(1, 1_000_000),
    default: defaultLimits.writesPerSecond,
    meaning: 'Writes of one thing a second, both doors together; a burst may hold those of 5 s.',
    reason: 'Far above what a sensor sends, and far below what the server takes.',
  },
  recordsPerSecond: {
    ...wholeNumber(1, 100_000_000),
    default: defaultLimits.recordsPerSecond,
    meaning: 'Records of one thing a second, both doors together; a burst may hold those of 5 s.',
    reason: 'As `writesPerSecond`.',
  },
  resourcesPerThing: {
    ...wholeNumber(1, 10_000_000),
    default: defaultLimits.resourcesPerThing,
    meaning: 'Resources that a thing may have; a write that would make more is refused.',
    reason: 'A device that puts a counter into its keys is found out before it has filled the disk.',
  },
  streamsPerThing: {
    ...wholeNumber(1, 1_000_000),
    default: defaultLimits.streamsPerThing,
    meaning: 'Live streams over HTTP of one thing at one time.',
    reason: 'Each holds a connection; more belong on MQTT.',
  },
  subscriptionsPerConnection: {
    ...wholeNumber(1, 1_000_000),
    default: defaultLimits.subscriptionsPerConnection,
    meaning: 'Subscriptions of one MQTT connection; those beyond are refused in SUBACK.',
    reason: 'Every message is matched against them.',
  },
  connectionsPerAddress: {
    ...wholeNumber(1, 1_000_000),
    default: defaultLimits.connectionsPerAddress,
    meaning: 'Connections from one address (IPv6: from one /64) over all doors. Loopback is exempt.',
    reason: 'A site behind one address has fewer; who wants to exhaust the server needs more.',
  },
  failedCredentialsPerMinute: {
    ...wholeNumber(1, 1_000_000),
    default: defaultLimits.failedCredentialsPerMinute,
    meaning:
      'Credentials that are not valid, from one address (IPv6: from one /64), after which further ones are refused for a minute with 429 or CONNACK 5. A valid one is let in at any time.',
    reason: 'A device with a wrong token is told so, and who guesses is held up.',
  },
} as const satisfies Record<string, OptionDeclaration>
