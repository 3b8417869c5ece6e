import { defaultLimits, limitRules } from '../../access/limits/limits.ts'
import type { OptionDeclaration } from '../../core/options/option-kinds.ts'

/** Options for the limits of a thing, of a connection and of an address (contract §9). */
export const limitDeclarations = {
  writesPerSecond: {
    ...limitRules.writesPerSecond,
    default: defaultLimits.writesPerSecond,
    meaning:
      'Writes of one thing a second, over HTTP and MQTT together; a burst may contain the writes of 5 s.',
    reason: 'Far above the rate of a sensor, and far below the limit of the server.',
  },
  recordsPerSecond: {
    ...limitRules.recordsPerSecond,
    default: defaultLimits.recordsPerSecond,
    meaning:
      'Records of one thing a second, over HTTP and MQTT together; a burst may contain the records of 5 s.',
    reason: 'As `writesPerSecond`.',
  },
  resourcesPerThing: {
    ...limitRules.resourcesPerThing,
    default: defaultLimits.resourcesPerThing,
    meaning: 'Resources of one thing. A write that would create more is refused.',
    reason: 'A device with a counter in its keys is stopped before it fills the disk.',
  },
  streamsPerThing: {
    ...limitRules.streamsPerThing,
    default: defaultLimits.streamsPerThing,
    meaning: 'Open live streams of one thing over HTTP.',
    reason: 'Each stream holds a connection. Use MQTT for more subscribers.',
  },
  subscriptionsPerConnection: {
    ...limitRules.subscriptionsPerConnection,
    default: defaultLimits.subscriptionsPerConnection,
    meaning: 'Subscriptions of one MQTT connection. SUBACK refuses more.',
    reason: 'A program for a house subscribes to every topic of each device. Each subscription takes memory.',
  },
  connectionsPerAddress: {
    ...limitRules.connectionsPerAddress,
    default: defaultLimits.connectionsPerAddress,
    meaning:
      'Open connections from one address (IPv6: from one /64), over HTTP and MQTT together. Loopback is exempt.',
    reason: 'A site behind one address has fewer connections. An attack on the server needs more.',
  },
  failedCredentialsPerMinute: {
    ...limitRules.failedCredentialsPerMinute,
    default: defaultLimits.failedCredentialsPerMinute,
    meaning:
      'Invalid credentials from one address (IPv6: from one /64). More are refused for a minute with 429 or CONNACK 5. A valid credential is accepted at any time.',
    reason: 'A device with a wrong token gets a clear answer, and an attacker cannot guess fast.',
  },
} as const satisfies Record<string, OptionDeclaration>
