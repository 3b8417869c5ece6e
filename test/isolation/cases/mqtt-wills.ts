import { type ConnectTrick, wills } from '../trick.ts'

/** Wills: a write that would be made when nobody looks. */
export const willTricks: readonly ConnectTrick[] = [
  ...wills('own token', {
    'a will on other topics of another': { will: { topic: 'house/victim/state', retain: true } },
    'a will above other topics': 'house',
    'a will of another thing': 'things/<victim>/write',
    'a retained will of another thing': { will: { topic: 'things/<victim>/write', retain: true } },
    'a will of another thing on the old topic': 'v2/things/<victim>',
    'a will of another thing in a persistent session': {
      will: { topic: 'things/<victim>/write' },
      clean: false,
      clientId: 'w',
    },
    'a will on values of another thing': {
      will: { topic: 'things/<victim>/values/temperature', retain: true },
    },
    "a will on one's own values": { will: { topic: 'things/<own>/values/temperature', retain: true } },
    "a will on one's own errors": 'things/<own>/errors',
    'a will on errors of another thing': 'things/<victim>/errors',
    'a will up and over': 'things/<own>/../<victim>/write',
    'a will behind a leading slash': '/things/<victim>/write',
    'a will behind a doubled slash': 'things//<victim>/write',
    'a will before a trailing slash': 'things/<own>/write/',
    'a will in upper case': 'THINGS/<victim>/write',
    'a will on $SYS': '$SYS/broker/uptime',
    'a will on a shared topic': '$share/g/things/<victim>/write',
    'a will on a topic of nobody': 'hello/world',
    'a will on an activation': 'v2/activations/<fresh code>/x',
  }),
  ...wills('own write session', {
    "a will of another thing's session": 'things/<victim>/write',
  }),
  ...wills('own minted write session', {
    "a will of another thing's minted session": 'things/<victim>/write',
  }),
  ...wills('read session of victim', {
    'a will of a read session': 'things/<victim>/write',
    'a will of a read session on the old topic': 'v2/things/<victim>',
  }),
  ...wills('minted read session of victim', {
    'a will of a minted read session': 'things/<victim>/write',
  }),
  ...wills('read session of all', {
    'a will of a read session of all': 'things/<victim>/write',
  }),
  ...wills('nobody', {
    'a will of an anonymous client on an id': 'things/<victim>/write',
    'a will of an anonymous client on an unknown token': 'things/<unknown token>/write',
    'a will of an anonymous client on a revoked token': 'things/<revoked token>/write',
    'a will of an anonymous client on the token of a removed thing': 'things/<token of removed>/write',
    'a will of an anonymous client on a session': 'things/<write session of victim>/write',
    'a will of an anonymous client on a token less its last': 'things/<victim token less its last>/write',
  }),
  ...wills('write session of victim', {
    "a will on values of a session's thing": 'things/<victim>/values/temperature',
  }),
]
