import { type HttpTrick, presented, requests } from '../trick.ts'

/** Credentials that are none, not any more, not here or not in this form; where a valid one would open. */
export const credentialTricks: readonly HttpTrick[] = [
  ...presented('GET /v2/things/<victim>/resources/temperature', '403 forbidden', {
    "another thing's token": 'own token',
    "another thing's read session": 'own read session',
    "another thing's write session": 'own write session',
    "another thing's minted session": 'own minted write session',
    'a session of a removed thing': 'session of removed',
  }),
  ...presented('GET /v2/things/<own>/resources', '401 invalid_session', {
    'a revoked token as credential': 'revoked token',
    'a session that died with its token': 'session of revoked token',
  }),
  ...presented('POST /v2/things/<own>', '401 invalid_session', {
    'write with a revoked token as credential': 'revoked token',
    'write with a session that died with its token': 'session of revoked token',
  }),
  ...presented('GET /v2/things/<victim>/resources/temperature', '401 invalid_session', {
    'a token of a removed thing as credential': 'token of removed',
    'a revoked session': 'revoked session',
    'an expired session': 'expired session',
    'an expired minted session': 'expired minted session',
    nonsense: 'nonsense',
    'an unknown token as credential': 'unknown token',
    'the thing id as credential': 'victim',
    'a session id as credential': 'session id',
    'a token id as credential': 'victim token id',
    'an activation code as credential': 'fresh code',
    'the hash of a token as credential': 'hash of victim token',
    'a token in lower case as credential': 'victim token in lower case',
    'a token less its last as credential': 'victim token less its last',
    'a token that decodes the same as credential': 'victim token with another end',
    'the hash of the admin key as credential': 'hash of admin key',
  }),
  ...presented('GET /v2/things/<removed>/resources', '401 invalid_session', {
    'a removed thing with its token as credential': 'token of removed',
  }),
  ...presented('POST /v2/things/<victim>', '401 invalid_session', {
    'write with a revoked session': 'revoked session',
    'write with an expired session': 'expired session',
    'write with an expired minted session': 'expired minted session',
  }),
  ...presented('DELETE /v2/things/<victim>/resources/temperature', '401 invalid_session', {
    'delete with a revoked session': 'revoked session',
  }),
  ...presented('GET /v2/principal', '401 invalid_session', {
    'a principal of a revoked session': 'revoked session',
    'a principal of a removed thing': 'token of removed',
    'a principal of a thing id': 'victim',
  }),
  ...presented('GET /v2/things', '401 invalid_session', {
    'things of an expired session': 'expired session',
    'things of a revoked token': 'revoked token',
    'things of a session id': 'session id',
  }),
  ...presented('GET /v2/admin/things', '401 invalid_session', {
    'the admin key in upper case': 'admin key in upper case',
    'the admin key less its last character': 'admin key less its last',
    'the admin key and one character': 'admin key and A',
  }),
  ...requests('nobody', '401 invalid_session', {
    'stream with a session that died with its token':
      'GET /v2/things/<own>?session=<session of revoked token>',
    'stream with a revoked session': 'GET /v2/things/<victim>?session=<revoked session>',
    'stream with an expired session': 'GET /v2/things/<victim>?session=<expired session>',
    'a session as Basic': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'Basic <admin key as Basic>' },
    },
    'the admin key as Basic': {
      request: 'GET /v2/admin/things',
      headers: { authorization: 'Basic <admin key as Basic>' },
    },
    'Bearer without a credential': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'Bearer' },
    },
    'bearer and blanks': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'bearer   ' },
    },
    'Bearer twice': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'Bearer Bearer <read session of victim>' },
    },
    'another scheme': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'Token <read session of victim>' },
    },
    'two credentials in one': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'Bearer <own token>, Bearer <read session of victim>' },
    },
    'one credential behind another': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: '<own token> <read session of victim>' },
    },
    'a credential in quotes': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'Bearer "<read session of victim>"' },
    },
    '?session= nonsense on a stream': 'GET /v2/things/<victim>?session=nonsense',
  }),
  ...requests('expired session', '401 invalid_session', {
    'events with an expired session': {
      request: 'GET /v2/things/<victim>',
      headers: { accept: 'text/event-stream' },
    },
  }),
  ...requests('nobody', '403 forbidden', {
    'bearer in lower case of another thing': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: 'bearer   <own token>' },
    },
    '?session= of another thing on a stream': 'GET /v2/things/<victim>?session=<own read session>',
  }),
  ...requests('nobody', '401 missing_credential', {
    'an empty Authorization': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { authorization: '' },
    },
    '?session= on a read': 'GET /v2/things/<victim>/resources/temperature?session=<read session of victim>',
    '?session= on all resources': 'GET /v2/things/<victim>/all_resources?session=<read session of victim>',
    '?session= on the names': 'GET /v2/things/<victim>/resources?session=<read session of victim>',
    '?session= on refused writes': 'GET /v2/things/<victim>/errors?session=<write session of victim>',
    '?session= on a write': 'POST /v2/things/<victim>?session=<write session of victim>',
    '?session= on a deletion':
      'DELETE /v2/things/<victim>/resources/temperature?session=<write session of victim>',
    '?session= of the operator': 'GET /v2/admin/things?session=<write session of all>',
    '?session= empty on a stream': 'GET /v2/things/<victim>?session=',
    '?thingToken= on a read': 'GET /v2/things/<victim>/resources/temperature?thingToken=<own token>',
    '?token= on a stream': 'GET /v2/things/<victim>?token=<read session of victim>',
    'a cookie': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { cookie: 'session=<read session of victim>' },
    },
    'an X-Api-Key': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { 'x-api-key': '<read session of victim>' },
    },
    'a Proxy-Authorization': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { 'proxy-authorization': 'Bearer <read session of victim>' },
    },
    "a loopback address of one's own making": {
      request: 'GET /v2/admin/things',
      headers: { 'x-forwarded-for': '127.0.0.1' },
    },
  }),
]
