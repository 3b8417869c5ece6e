/** Topics beside those of things, for every thing: what is sent there is looked at, too. */
export const topicGrants = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
] as const

/** The option `topics` of a server, for its environment. */
export const servedTopics = { THINGWIRE_TOPICS: 'house/#' }
