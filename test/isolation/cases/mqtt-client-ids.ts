import { type TakeoverTrick, takeovers } from '../trick.ts'

/** Client ids of the neighbour's clients, or as those are spelled inside the broker, by somebody else. */
export const clientIdTricks: readonly TakeoverTrick[] = [
  ...takeovers('own token', {
    'a publisher by another thing': 'station',
    'a subscriber by another thing': 'display',
    'an anonymous client by another thing': 'sensor',
    "a session's client by another thing": 'dashboard',
    "the operator's client by another thing": 'console',
    'an id scoped to the victim': 'thing.<victim>:display',
    'an id scoped to the victim, percent-encoded': 'thing.<victim>%3Adisplay',
    'an id scoped to the victim with a slash': 'thing.<victim>/display',
    'an id scoped to the victim with a dot': 'thing.<victim>.display',
    'an id scoped to the victim behind its own scope': 'thing.<own>:thing.<victim>:display',
    'an id scoped to nobody': ':display',
    'an id up and over': '../thing.<victim>:display',
    'an id scoped to the operator': 'admin:console',
    'an id scoped to a session': 'session.<read session id of victim>:dashboard',
    'an id scoped to an anonymous client': 'anonymous.<victim>:sensor',
    'an id that is a wildcard': 'thing.+:#',
    'the thing id': '<victim>',
  }),
  ...takeovers('own write session', {
    'a subscriber by a session': 'display',
    "a session's client by another session": 'dashboard',
    'an id scoped to the victim by a session': 'thing.<victim>:display',
    'an id scoped to a session by another': 'session.<read session id of victim>:dashboard',
  }),
  ...takeovers('minted write session of victim', {
    "a thing's client by its own session": 'display',
    "a session's client by another of the same thing": 'dashboard',
    'an id scoped to a thing by its own session': 'thing.<victim>:display',
  }),
  ...takeovers('write session of all', {
    "the operator's client by a session of all": 'console',
    'an id scoped to the operator by a session of all': 'admin:console',
  }),
  ...takeovers('nobody', {
    'a publisher by an anonymous client': 'station',
    'an anonymous client by another': 'sensor',
    "the operator's client by an anonymous client": 'console',
    'an id scoped to the victim by an anonymous client': 'thing.<victim>:display',
    'an id scoped to an anonymous client by another': 'anonymous.<victim>:sensor',
    'an id scoped to the operator by an anonymous client': 'admin:console',
  }),
]
