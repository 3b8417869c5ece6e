import type { Command } from 'commander'

export interface TopicFlags {
  readonly readTopic?: readonly string[]
  readonly writeTopic?: readonly string[]
}

export interface TopicGrant {
  readonly filter: string
  readonly access: string
}

/** Adds the options for topics that belong to no thing (contract §7.10). */
export function withTopics(command: Command): Command {
  return command
    .option(
      '--read-topic <filter>',
      'topics that it may subscribe to, such as tele/#; can be repeated',
      another,
    )
    .option(
      '--write-topic <filter>',
      'topics that it may publish on, such as cmnd/#; can be repeated',
      another,
    )
}

export function grantsOf({ readTopic = [], writeTopic = [] }: TopicFlags): readonly TopicGrant[] {
  return [
    ...readTopic.map(filter => ({ filter, access: 'read' })),
    ...writeTopic.map(filter => ({ filter, access: 'write' })),
  ]
}

/** Grants as text, such as `read tele/#, write cmnd/#`. */
export function shownGrants(grants: readonly TopicGrant[] = []): string {
  return grants.map(({ filter, access }) => `${access} ${filter}`).join(', ')
}

/** The column `topics` of a table of things or sessions. The column is left out if it would be empty. */
export function topicColumn(listed: readonly { readonly topics?: readonly TopicGrant[] }[]) {
  const isShown = listed.some(({ topics = [] }) => topics.length > 0)
  return {
    head: isShown ? ['topics'] : [],
    cells: ({ topics }: { readonly topics?: readonly TopicGrant[] }) =>
      isShown ? [shownGrants(topics)] : [],
  }
}

function another(filter: string, before: readonly string[] = []): readonly string[] {
  return [...before, filter]
}
