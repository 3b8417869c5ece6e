import { expect } from 'vitest'
import { credentialOf, spell, type Who } from './cast.ts'
import { expectNothingSeen, login, subackIn } from './clients.ts'
import { isolationTests } from './world.ts'

const { mqtt } = isolationTests()

/** SUBSCRIBEs to what one must not see. */
refusedFilters('own token', {
  everything: '#',
  'every first level': '+',
  'everything below a first level': '+/#',
  'four levels of anything': '+/+/+/+',
  'three levels of anything': '+/+/+',
  'all below things': 'things/#',
  'all of every thing': 'things/+/#',
  'values of every thing': 'things/+/values/#',
  'one level of values of every thing': 'things/+/values/+',
  'one value of every thing': 'things/+/values/temperature',
  'errors of every thing': 'things/+/errors',
  'the time of every thing': 'things/+/date',
  'writes to every thing': 'things/+/write',
  'all below v2': 'v2/#',
  'all below the old topic': 'v2/things/#',
  'every thing on the old topic': 'v2/things/+',
  'any second level above another thing': 'v2/+/<victim>',
  'any first level above another thing': '+/<victim>/values/#',
  "any first level above one's own thing": '+/<own>/values/#',
  'any first two levels above another thing': '+/+/<victim>',
  'every activation': 'v2/activations/#',
  'every activation code': 'v2/activations/+/+',
  'everything of the broker': '$SYS/#',
  'new clients of the broker': '$SYS/+/new/clients',
  'subscriptions of the broker': '$SYS/+/new/subscribes',
  'a share of everything': '$share/g/#',
  'a share of every thing': '$share/g/things/+/values/#',
  'a share of another thing': '$share/g/things/<victim>/values/#',
  "a share of one's own thing": '$share/g/things/<own>/values/#',
  'a queue of another thing': '$queue/things/<victim>/values/#',
  'all of another thing': 'things/<victim>/#',
  'another thing': 'things/<victim>',
  'values of another thing': 'things/<victim>/values/#',
  'one value of another thing': 'things/<victim>/values/temperature',
  'the position of another thing': 'things/<victim>/values/$geo',
  'any second level of another thing': 'things/<victim>/+/temperature',
  'errors of another thing': 'things/<victim>/errors',
  'the time of another thing': 'things/<victim>/date',
  'the limits for another thing': 'things/<victim>/limits',
  'writes to another thing': 'things/<victim>/write',
  'answers to another thing': 'things/<victim>/answers/#',
  'answers to every thing': 'things/+/answers/#',
  'another thing on the old topic': 'v2/things/<victim>',
  'all of another thing on the old topic': 'v2/things/<victim>/#',
  'values behind a leading slash': '/things/<victim>/values/#',
  'values behind a doubled slash': 'things//<victim>/values/#',
  'values with a doubled slash': 'things/<victim>//values/#',
  'things in upper case': 'THINGS/<victim>/values/#',
  'an id in upper case': 'things/<victim in upper case>/values/#',
  'an id less its last': 'things/<victim less its last>/values/#',
  'an id percent-encoded': 'things/<victim percent-encoded>/values/#',
  'a token less its last': 'things/<victim token less its last>/values/#',
  'a token in lower case': 'things/<victim token in lower case>/values/#',
  'the hash of a token': 'things/<hash of victim token>/values/#',
  'a session for a token': 'things/<read session of victim>/values/#',
  'a token of a removed thing': 'things/<token of removed>/values/#',
  "a revoked token of one's own": 'things/<revoked token>/values/#',
})
refusedFilters('read session of all', {
  'a session: everything': '#',
  'a session: all below things': 'things/#',
  'a read session of all: errors': 'things/<victim>/errors',
})
refusedFilters('write session of all', {
  'a session: any first level': '+/<victim>/values/#',
  'a session: everything of the broker': '$SYS/#',
  'a session: a share': '$share/g/things/+/values/#',
  'a session: all below v2': 'v2/#',
})
refusedFilters('own read session', {
  'a session of some things: another thing': 'things/<victim>/values/#',
})
refusedFilters('own write session', {
  'a session of some things: another thing on the old topic': 'v2/things/<victim>',
  'a session of some things: errors of another': 'things/<victim>/errors',
})
refusedFilters('own minted write session', {
  'a minted session: another thing': 'things/<victim>/#',
})
refusedFilters('read session of victim', {
  'a read session: errors': 'things/<victim>/errors',
  'a read session: another thing': 'things/<own>/values/#',
})
refusedFilters('minted read session of victim', {
  'a minted read session: errors': 'things/<victim>/errors',
})
refusedFilters('own token', {
  'other topics: everything': 'house/#',
  'other topics: of another': 'house/victim/#',
  'other topics: one of another': 'house/victim/state',
  'other topics: a plus above them': 'house/+/state',
  'other topics: a plus before them': '+/victim/state',
  "other topics: up and over from one's own": 'house/../victim/#',
  'other topics: in capitals': 'HOUSE/victim/#',
  'other topics: behind a slash': '/house/victim/#',
  'other topics: the level above': 'house',
  'other topics: a share of them': '$share/g/house/victim/#',
})
refusedFilters('topic session', {
  'a session of topics: those of another': 'house/victim/#',
  'a session of topics: a thing': 'things/<victim>/values/#',
})
subscribes('topic session', [1], { 'a session of topics: every thing': 'things/+/values/#' })
refusedFilters('topic writer', {
  'a session that may publish alone: the same topics': 'house/victim/#',
})
refusedFilters('write session of all', { 'a session of all things: other topics': 'house/#' })
refusedFilters('source token', {
  'a source: everything': '#',
  'a source: two levels of anything': '+/+',
  'a source: all below things': 'things/#',
  'a source: values of every thing': 'things/+/values/+',
  'a source: every thing on the old topic': 'v2/things/+',
  'a source: all below v2': 'v2/#',
  'a source: values of a thing': 'things/<victim>/values/#',
  'a source: errors of a thing': 'things/<victim>/errors',
  'a source: itself as a thing': 'things/<own source>/errors',
  'a source: its token as a thing': 'things/<source token>/#',
  'a source: everything of the broker': '$SYS/#',
  'a source: a share of its topics': '$share/g/estate/own/#',
  'a source: topics of another source': 'estate/victim/#',
  'a source: topics above its own': 'estate/#',
  'a source: a plus above its own': 'estate/+/pump/pressure',
  'a source: topics of things': 'house/victim/#',
})
subscribes('source token', [1, 128, 1], {
  'a source: its own topics': ['estate/own/#', 'things/+/values/+', 'estate/own/+/state'],
})
refusedFilters('overlapping source token', {
  'a source that shares some topics: those that it does not share': 'estate/own/#',
})
refusedFilters('topic session', { 'a session of topics: those of a source': 'estate/own/#' })
refusedFilters('nobody', { 'an anonymous client: topics of a source': 'estate/own/#' })
refusedFilters('nobody', {
  'an anonymous client: other topics': 'house/#',
  'an anonymous client: everything': '#',
  'an anonymous client: values of every thing': 'things/+/values/#',
  'an anonymous client: every thing on the old topic': 'v2/things/+',
  'an anonymous client: values of an id': 'things/<victim>/values/#',
  'an anonymous client: an id on the old topic': 'v2/things/<victim>',
  'an anonymous client: a session': 'things/<read session of victim>/values/#',
  'an anonymous client: a revoked token': 'things/<revoked token>/values/#',
  'an anonymous client: a token of a removed thing': 'things/<token of removed>/#',
  'an anonymous client: everything of the broker': '$SYS/#',
  'a spent activation code': 'v2/activations/<spent code>/x',
  'a removed activation code': 'v2/activations/<removed code>/x',
  'a guessed activation code': 'v2/activations/<guessed code>/x',
  'an activation code in upper case': 'v2/activations/<fresh code in upper case>/x',
  'an activation code less its last': 'v2/activations/<fresh code less its last>/x',
  'an activation code with any end': 'v2/activations/<fresh code>/+',
  'an activation code with every end': 'v2/activations/<fresh code>/#',
  'a token for an activation code': 'v2/activations/<own token>/x',
})
subscribes('own token', [1], {
  'up and over': 'things/<own>/../<victim>/values/#',
  'up and over by the token': 'things/<own token>/../<victim>/#',
})
subscribes('own token', [128, 1], {
  "another thing before one's own": ['things/<victim>/values/#', 'things/<own>/values/#'],
})
subscribes('own token', [1, 128], {
  "another thing behind one's own": ['things/<own>/values/#', 'things/<victim>/values/#'],
})
subscribes('own token', [1, 128, 1, 128], {
  "everything among one's own": ['things/<own>/#', '#', 'v2/things/<own token>', 'things/+/#'],
})
subscribes('own token', [128, 128, 1], {
  'the same refused twice': ['things/<victim>/#', 'things/<victim>/#', 'things/<own>/errors'],
})
subscribes('own read session', [1], {
  'a session of some things: values of every thing': 'things/+/values/#',
  'a session of some things: one value of every thing': 'things/+/values/temperature',
})
subscribes('own write session', [1], {
  'a session of some things: all of every thing': 'things/+/#',
  'a session of some things: errors of every thing': 'things/+/errors',
  'a session of some things: every thing on the old topic': 'v2/things/+',
})
subscribes('own read session', [1, 128, 1], {
  'a session of some things: another among every thing': [
    'things/+/values/#',
    'things/<victim>/values/#',
    'v2/things/+',
  ],
})
subscribes('own minted write session', [1, 1], {
  'a minted session: every thing': ['things/+/values/#', 'v2/things/+'],
})
subscribes('write session of victim', [1, 1], {
  'a session: answers to another client': ['things/<victim>/answers/#', 'things/+/answers/station'],
})
subscribes('session of removed', [1], {
  'a session of a removed thing: every thing': 'things/+/values/#',
})
subscribes('nobody', [1, 128, 128], {
  'an anonymous client: an id behind a token of worth': [
    'things/<own token>/#',
    'things/<victim>/#',
    'things/<own>/#',
  ],
})

/** Filters by name, of one credential, that SUBACK must refuse. */
function refusedFilters(as: Who, rows: Readonly<Record<string, string>>): void {
  subscribes(as, [128], rows)
}

/** SUBSCRIBEs by name, of one credential and what SUBACK of 3.1.1 must say of each filter, at QoS 1; a text alone is the one filter. */
function subscribes(
  as: Who,
  granted: readonly number[],
  rows: Readonly<Record<string, string | readonly string[]>>,
): void {
  for (const [name, row] of Object.entries(rows)) {
    const run: Parameters<typeof mqtt>[1] = async (world, way) => {
      const { cast, neighbour } = world
      const attacker = await login(world, way, credentialOf(cast, as))
      const filters = [row].flat().map(filter => spell(cast, filter))
      expect(await attacker.subscribeAll(filters, 1)).toEqual(subackIn(way, filters, granted))
      await neighbour.probe()
      await neighbour.probeErrors()
      await attacker.ping()
      expectNothingSeen(cast, attacker)
      await attacker.disconnect()
    }
    mqtt(`SUBSCRIBE: ${name}`, run, { as, granted, row })
  }
}
