import { type PublishTrick, publishes } from '../trick.ts'

/** PUBLISHes where one must not, or not so. */
export const publishTricks: readonly PublishTrick[] = [
  ...publishes('own token', 'closed', {
    'write to every thing': 'things/+/write',
    'write to everything': '#',
  }),
  ...publishes('own token', 'reported', {
    'write to another thing': 'things/<victim>/write',
    'write to another thing at QoS 0': { topic: 'things/<victim>/write', qos: 0 },
    'write to another thing at QoS 2': { topic: 'things/<victim>/write', qos: 2 },
    'write to another thing, retained': { topic: 'things/<victim>/write', retain: true },
    'write to another thing on the old topic': 'v2/things/<victim>',
    'write to another thing on the old topic, retained': { topic: 'v2/things/<victim>', retain: true },
    'announce a value of another thing': 'things/<victim>/values/temperature',
    'retain a value of another thing': { topic: 'things/<victim>/values/temperature', retain: true },
    'clear what is retained of another thing': {
      topic: 'things/<victim>/values/temperature',
      retain: true,
      payload: '',
    },
    'clear the settings of another thing': {
      topic: 'things/<victim>/values/$settings',
      retain: true,
      payload: '',
    },
    'announce a position of another thing': { topic: 'things/<victim>/values/$geo', qos: 0 },
    'announce an error of another thing': 'things/<victim>/errors',
    'announce the time to another thing': { topic: 'things/<victim>/date', retain: true },
    'write behind a leading slash': '/things/<victim>/write',
    'write behind a doubled slash': 'things//<victim>/write',
    'write with a doubled slash': 'things/<victim>//write',
    'write before a trailing slash': 'things/<victim>/write/',
    'write to things in upper case': 'THINGS/<victim>/write',
    'write in upper case': 'things/<victim>/WRITE',
    'write to an id in upper case': 'things/<victim in upper case>/write',
    'write to an id less its last': 'things/<victim less its last>/write',
    'write to an id percent-encoded': 'things/<victim percent-encoded>/write',
    'write to a token less its last': 'things/<victim token less its last>/write',
    'write to a token in lower case': 'things/<victim token in lower case>/write',
    'write to the hash of a token': 'things/<hash of victim token>/write',
    'write to a session': 'things/<write session of victim>/write',
    'write to a removed thing': 'things/<token of removed>/write',
    "write with a revoked token of one's own": 'things/<revoked token>/write',
    'write on a shared topic': '$share/g/things/<victim>/write',
    'tell as the broker': { topic: '$SYS/broker/uptime', retain: true },
    'answer an activation': 'v2/activations/<fresh code>/x',
    'write on a path of the operator': 'v2/admin/things',
    'write on a topic of nobody': { topic: 'hello/world', retain: true },
  }),
  ...publishes('own token', 'reported', {
    'write up and over': 'things/<own>/../<victim>/write',
    'write up and over by the token': 'things/<own token>/../<victim>/write',
    'write up and over on the old topic': 'v2/things/<own>/../<victim>',
    'retain up and over': { topic: 'things/<own>/../<victim>/values/temperature', retain: true },
    "retain a value of one's own": { topic: 'things/<own>/values/forged', retain: true },
    'retain a value by the token': { topic: 'things/<own token>/values/forged', retain: true },
    "clear what is retained of one's own": { topic: 'things/<own>/values/forged', retain: true, payload: '' },
    "announce an error of one's own": 'things/<own>/errors',
    'retain the time for oneself': { topic: 'things/<own>/date', retain: true },
    'write below the write topic': 'things/<own>/write/<victim>',
  }),
  ...publishes('own token', 'written', {
    'write, to be retained': { topic: 'things/<own>/write', retain: true },
    'write on the old topic, to be retained': { topic: 'v2/things/<own token>', retain: true },
  }),
  ...publishes('read session of victim', 'dropped', {
    'a read session writes': 'things/<victim>/write',
    'a read session writes at QoS 0': { topic: 'things/<victim>/write', qos: 0 },
    'a read session writes at QoS 2': { topic: 'things/<victim>/write', qos: 2 },
    'a read session writes on the old topic': 'v2/things/<victim>',
    'a read session retains a value': { topic: 'things/<victim>/values/temperature', retain: true },
    'a read session clears what is retained': {
      topic: 'things/<victim>/values/temperature',
      retain: true,
      payload: '',
    },
    'a read session announces an error': 'things/<victim>/errors',
  }),
  ...publishes('minted read session of victim', 'dropped', {
    'a minted read session writes': 'things/<victim>/write',
  }),
  ...publishes('read session of all', 'dropped', {
    'a read session of all writes': 'things/<victim>/write',
  }),
  ...publishes('read session of all', 'closed', {
    'a read session of all writes to every thing': 'things/+/write',
  }),
  ...publishes('write session of all', 'closed', {
    'a write session of all writes to every thing': 'things/+/write',
  }),
  ...publishes('write session of all', 'dropped', {
    'a session writes on $SYS': { topic: '$SYS/broker/uptime', retain: true },
    'a session writes on a topic of nobody': { topic: 'hello/world', retain: true },
  }),
  ...publishes('own write session', 'reported', {
    'a write session of another thing writes': 'things/<victim>/write',
    'a write session of another thing writes on the old topic': 'v2/things/<victim>',
  }),
  ...publishes('own minted write session', 'reported', {
    'a minted session of another thing writes': 'things/<victim>/write',
  }),
  ...publishes('own read session', 'dropped', {
    'a read session of another thing writes': 'things/<victim>/write',
  }),
  ...publishes('session of removed', 'dropped', {
    'a session of a removed thing writes to it': 'things/<removed>/write',
  }),
  ...publishes('own write session', 'written', {
    'a write session writes, to be retained': { topic: 'things/<own>/write', retain: true },
  }),
  ...publishes('nobody', 'closed', {
    'an anonymous client writes to an id': 'things/<victim>/write',
    'an anonymous client writes to an id on the old topic': 'v2/things/<victim>',
    'an anonymous client writes to an id at QoS 0': { topic: 'things/<victim>/write', qos: 0 },
    'an anonymous client clears what is retained': {
      topic: 'things/<victim>/values/temperature',
      retain: true,
      payload: '',
    },
    'an anonymous client writes to an unknown token': 'things/<unknown token>/write',
    'an anonymous client writes with a revoked token': 'things/<revoked token>/write',
    'an anonymous client writes with a revoked token, old topic': 'v2/things/<revoked token>',
    'an anonymous client writes with the token of a removed thing': 'things/<token of removed>/write',
    'an anonymous client writes with a session': 'things/<write session of victim>/write',
    'an anonymous client writes with an expired session': 'things/<expired session>/write',
    'an anonymous client writes with the hash of the admin key': 'things/<hash of admin key>/write',
  }),
  ...publishes('nobody', 'reported', {
    'an anonymous client writes up and over': 'things/<own token>/../<victim>/write',
    'an anonymous client retains a value': { topic: 'things/<own token>/values/forged', retain: true },
  }),
]
