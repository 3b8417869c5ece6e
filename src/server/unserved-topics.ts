import type { FastifyBaseLogger } from 'fastify'
import type { Access, AccessSessionRegistry, ThingRegistry } from '../access/access.ts'
import { allPages } from '../core/async/all-pages.ts'
import { isOutage } from '../core/outage.ts'
import { servedGrants, type TopicGrant } from '../core/topics/topic-grant.ts'

const filtersShown = 5

interface Registries {
  readonly registry: Pick<ThingRegistry, 'list'>
  readonly sessions: Pick<AccessSessionRegistry, 'list'>
  readonly access: Pick<Access, 'topicsOf'>
}

type Granted = { readonly topics?: readonly TopicGrant[] }

/**
 * Logs a warning if things or sessions have grants for topics that neither the option `topics` nor a source serves. Otherwise,
 * an operator could not see why messages on these topics are refused. Reads all things and sessions.
 */
export async function warnOfUnservedTopics(
  { registry, sessions, access }: Registries,
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>,
): Promise<void> {
  const filters = new Set<string>()
  try {
    const served = (await access.topicsOf({ kind: 'admin' })).map(({ filter }) => filter)
    const note = ({ topics = [] }: Granted): number => {
      const usable = servedGrants(topics, served)
      const unserved = topics.filter(grant => !usable.includes(grant))
      for (const { filter } of unserved) filters.add(filter)
      return unserved.length > 0 ? 1 : 0
    }
    let things = 0
    const readThings = (cursor: object) => registry.list({ limit: 1_000, ...cursor })
    for await (const thing of allPages(readThings, page => page.things)) things += note(thing)
    let others = 0
    const readSessions = (cursor: object) => sessions.list({ limit: 1_000, ...cursor })
    for await (const session of allPages(readSessions, page => page.sessions)) others += note(session)
    if (filters.size === 0) return
    const shown = [...filters].slice(0, filtersShown).join(', ') + (filters.size > filtersShown ? ', …' : '')
    log.warn(
      { things, sessions: others },
      `things or sessions were granted topics that neither the option topics nor a source names, so they may not use them: ${shown}`,
    )
  } catch (error) {
    if (!isOutage(error)) log.error({ err: error }, 'defect while looking for topics')
  }
}
