import { z } from 'zod'
import type { AccessSessionRegistry, ActivationCodes, ThingRegistry } from '../access/access.ts'
import { assertOptions } from '../core/options/given-options.ts'
import { ifGiven, oneOf, text, wholeNumber } from '../core/options/option-kinds.ts'
import { assertThingId } from './known-thing.ts'

const limit = wholeNumber(1, 1_000)
const aText = { schema: z.string(), rule: 'a text' }
const texts = { schema: z.array(z.string()), rule: 'a list of thing ids' }
const topics = {
  schema: z.array(z.object({ filter: z.string(), access: z.enum(['read', 'write']) })),
  rule: "a list such as [{ filter: 'tele/#', access: 'read' }]",
}
const name = text('a text of at most 200 characters', z.string().max(200))
const anything = { schema: z.unknown(), rule: '' }
const terms = {
  access: oneOf(['read', 'write']),
  expiresIn: ifGiven({ schema: z.int().min(1), rule: 'a whole number of seconds' }),
}

/** The registry of things for a host. Checks arguments, since a host may not be type-checked. @throws TypeError, as a rejection */
export function registryOfHost(registry: ThingRegistry): ThingRegistry {
  const query = {
    ...{ limit, cursor: ifGiven(aText), name: ifGiven(aText) },
    ...{ among: ifGiven(anything), bbox: ifGiven(anything) },
  }
  return {
    ...registry,
    create: async options => {
      const rules = { name: ifGiven(name), topics: ifGiven(topics) }
      assertOptions('registry.create', rules, options, "{ name: 'pump' }")
      return await registry.create(options)
    },
    list: async asked => {
      assertOptions('registry.list', query, asked, '{ limit: 100 }')
      return await registry.list(asked)
    },
    named: async wanted => {
      assertOptions('registry.named', { name: aText }, { name: wanted }, '')
      return await registry.named(wanted)
    },
    missing: async thingIds => {
      assertOptions('registry.missing', { thingIds: texts }, { thingIds }, '')
      return await registry.missing(thingIds)
    },
    rename: async (thingId, to) => {
      assertOptions('registry.rename', { thingId: aText, name }, { thingId, name: to }, '')
      assertThingId(thingId)
      await registry.rename(thingId, to)
    },
    setTopics: async (thingId, granted) => {
      assertOptions('registry.setTopics', { thingId: aText, topics }, { thingId, topics: granted }, '')
      assertThingId(thingId)
      await registry.setTopics(thingId, granted)
    },
    remove: async thingId => {
      assertOptions('registry.remove', { thingId: aText }, { thingId }, '')
      assertThingId(thingId)
      await registry.remove(thingId)
    },
    addToken: async thingId => {
      assertOptions('registry.addToken', { thingId: aText }, { thingId }, '')
      assertThingId(thingId)
      return await registry.addToken(thingId)
    },
    tokens: async thingId => {
      assertOptions('registry.tokens', { thingId: aText }, { thingId }, '')
      assertThingId(thingId)
      return await registry.tokens(thingId)
    },
    removeToken: async (thingId, tokenId) => {
      assertOptions('registry.removeToken', { thingId: aText, tokenId: aText }, { thingId, tokenId }, '')
      assertThingId(thingId)
      await registry.removeToken(thingId, tokenId)
    },
  }
}

/** Sessions for a host, with the checks of `registryOfHost`. */
export function sessionsOfHost(sessions: AccessSessionRegistry): AccessSessionRegistry {
  const things = {
    schema: z.union([z.literal('*'), z.array(z.string())]),
    rule: "'*' or a list of thing ids",
  }
  return {
    ...sessions,
    create: async (ids, given) => {
      const rules = { things, ...terms, topics: ifGiven(topics) }
      assertOptions('sessions.create', rules, { ...given, things: ids }, '')
      if (ids !== '*') for (const thingId of ids) assertThingId(thingId)
      return await sessions.create(ids, given)
    },
    createForThing: async (thingId, credential, given) => {
      const rules = { thingId: aText, credential: { ...aText, secret: true as const }, ...terms }
      assertOptions('sessions.createForThing', rules, { ...given, thingId, credential }, '')
      assertThingId(thingId)
      return await sessions.createForThing(thingId, credential, given)
    },
    list: async asked => {
      assertOptions('sessions.list', { limit, cursor: ifGiven(aText) }, asked, '{ limit: 100 }')
      return await sessions.list(asked)
    },
  }
}

/** Activation codes for a host, with the checks of `registryOfHost`. */
export function activationCodesOfHost(codes: ActivationCodes): ActivationCodes {
  const rules = { count: wholeNumber(1, 1_000), uses: wholeNumber(1, 1_000_000) }
  return {
    ...codes,
    create: async options => {
      assertOptions('activationCodes.create', rules, options, '{ count: 1, uses: 1 }')
      return await codes.create(options)
    },
  }
}
