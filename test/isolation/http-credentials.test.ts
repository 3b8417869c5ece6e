import { httpTables } from './http-tricks.ts'
import { isolationTests } from './world.ts'

const { requests, presented, headed } = httpTables(isolationTests())

/** Something else where a token belongs, which is enough on a thing's path. */
requests('nobody', '401 unknown_thing_token', {
  'a token in upper case': 'POST /v2/things/<victim token in upper case>',
  'a token in lower case': 'POST /v2/things/<victim token in lower case>',
  'a token that decodes to the same bytes': 'POST /v2/things/<victim token with another end>',
  'a token backwards': 'POST /v2/things/<victim token backwards>',
  'the hash of a token': 'POST /v2/things/<hash of victim token>',
  'an unknown token': 'POST /v2/things/<unknown token>',
  'a read session as token': 'GET /v2/things/<read session of victim>/resources',
  'a write session as token': 'POST /v2/things/<write session of victim>',
  'a minted session as token': 'POST /v2/things/<minted write session of victim>',
  'mint a session with a session as token':
    'POST /v2/things/<write session of victim>/sessions {"access": "read"}',
  'the hash of the admin key as token': 'GET /v2/things/<hash of admin key>/resources',
  'write with a revoked token': 'POST /v2/things/<revoked token>',
  'read with a revoked token': 'GET /v2/things/<revoked token>/resources',
  'stream with a revoked token': 'GET /v2/things/<revoked token>',
  'mint a session with a revoked token': 'POST /v2/things/<revoked token>/sessions {"access": "write"}',
  'write with the token of a removed thing': 'POST /v2/things/<token of removed>',
  'read with the token of a removed thing': 'GET /v2/things/<token of removed>/all_resources',
  'the date for an id': 'GET /v2/utils/date?thingToken=<victim>',
  'the date for a session': 'GET /v2/utils/date?thingToken=<read session of victim>',
  'the date for a revoked token': 'GET /v2/utils/date?thingToken=<revoked token>',
  'the date for the token of a removed thing': 'GET /v2/utils/date?thingToken=<token of removed>',
  'the date for a token and one character': 'GET /v2/utils/date?thingToken=<victim token and A>',
})
requests('nobody', '404 not_found', {
  'a token less its last character': 'POST /v2/things/<victim token less its last>',
  'a token and one character': 'POST /v2/things/<victim token and A>',
  'a token and padding': 'POST /v2/things/<victim token and =>',
  'a token id as token': 'GET /v2/things/<victim token id>/resources',
  'a session id as token': 'GET /v2/things/<session id>/resources',
  'an activation code as token': 'POST /v2/things/<fresh code>',
})
requests('own token', '404 not_found', {
  'a prefix of a token, as another thing': 'GET /v2/things/<victim token less its last>/resources',
})
requests('write session of all', '401 unknown_thing_token', {
  'an unknown token, with a credential of worth': 'GET /v2/things/<unknown token>/resources',
  'a session as token, and as credential': 'POST /v2/things/<write session of all>',
})
requests('own token', '401 unknown_thing_token', {
  'a revoked token, with a valid one as credential': 'POST /v2/things/<revoked token>',
})
requests('read session of all', '404 unknown_thing', {
  'a removed thing by its id': 'GET /v2/things/<removed>/resources',
})
requests('write session of all', '404 unknown_thing', {
  'a thing that never was': 'POST /v2/things/<unknown id>',
})
requests('nobody', '400 missing_thing_token', {
  'the date without a token': 'GET /v2/utils/date',
})
requests('own token', '400 missing_thing_token', {
  'the date with the token in a header': 'GET /v2/utils/date',
})
requests('nobody', '401 unknown_activation_code', {
  'a spent code': 'POST /v2/things {"activationCode": "<spent code>"}',
  'a removed code': 'POST /v2/things {"activationCode": "<removed code>"}',
  'a guessed code': 'POST /v2/things {"activationCode": "<guessed code>"}',
  'a code in upper case': 'POST /v2/things {"activationCode": "<fresh code in upper case>"}',
  'a code less its last character': 'POST /v2/things {"activationCode": "<fresh code less its last>"}',
  'the victim as code': 'POST /v2/things {"activationCode": "<victim>"}',
  'a token as code': 'POST /v2/things {"activationCode": "<own token>"}',
})
requests('nobody', '400 invalid_body', {
  'no code, but a thing': 'POST /v2/things {"thingId": "<victim>"}',
  'a list of codes': 'POST /v2/things {"activationCode": ["<fresh code>"]}',
})

/** Credentials that are none, not any more, not here or not in this form; where a valid one would open. */
presented('GET /v2/things/<victim>/resources/temperature', '403 forbidden', {
  "another thing's token": 'own token',
  "another thing's read session": 'own read session',
  "another thing's write session": 'own write session',
  "another thing's minted session": 'own minted write session',
  'a session of a removed thing': 'session of removed',
})
presented('GET /v2/things/<own>/resources', '401 invalid_session', {
  'a revoked token as credential': 'revoked token',
  'a session that died with its token': 'session of revoked token',
})
presented('POST /v2/things/<own>', '401 invalid_session', {
  'write with a revoked token as credential': 'revoked token',
  'write with a session that died with its token': 'session of revoked token',
})
presented('GET /v2/things/<victim>/resources/temperature', '401 invalid_session', {
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
})
presented('GET /v2/things/<removed>/resources', '401 invalid_session', {
  'a removed thing with its token as credential': 'token of removed',
})
presented('POST /v2/things/<victim>', '401 invalid_session', {
  'write with a revoked session': 'revoked session',
  'write with an expired session': 'expired session',
  'write with an expired minted session': 'expired minted session',
})
presented('DELETE /v2/things/<victim>/resources/temperature', '401 invalid_session', {
  'delete with a revoked session': 'revoked session',
})
presented('GET /v2/principal', '401 invalid_session', {
  'a principal of a revoked session': 'revoked session',
  'a principal of a removed thing': 'token of removed',
  'a principal of a thing id': 'victim',
})
presented('GET /v2/things', '401 invalid_session', {
  'things of an expired session': 'expired session',
  'things of a revoked token': 'revoked token',
  'things of a session id': 'session id',
})
presented('GET /v2/admin/things', '401 invalid_session', {
  'the admin key in upper case': 'admin key in upper case',
  'the admin key less its last character': 'admin key less its last',
  'the admin key and one character': 'admin key and A',
})
requests('nobody', '401 invalid_session', {
  'stream with a session that died with its token': 'GET /v2/things/<own>?session=<session of revoked token>',
  'stream with a revoked session': 'GET /v2/things/<victim>?session=<revoked session>',
  'stream with an expired session': 'GET /v2/things/<victim>?session=<expired session>',
  'the admin key as Basic': {
    request: 'GET /v2/admin/things',
    headers: { authorization: 'Basic <admin key as Basic>' },
  },
  '?session= nonsense on a stream': 'GET /v2/things/<victim>?session=nonsense',
})
headed('nobody', 'GET /v2/things/<victim>/resources/temperature', '401 invalid_session', {
  'a session as Basic': { authorization: 'Basic <admin key as Basic>' },
  'Bearer without a credential': { authorization: 'Bearer' },
  'bearer and blanks': { authorization: 'bearer   ' },
  'Bearer twice': { authorization: 'Bearer Bearer <read session of victim>' },
  'another scheme': { authorization: 'Token <read session of victim>' },
  'two credentials in one': { authorization: 'Bearer <own token>, Bearer <read session of victim>' },
  'one credential behind another': { authorization: '<own token> <read session of victim>' },
  'a credential in quotes': { authorization: 'Bearer "<read session of victim>"' },
})
requests('expired session', '401 invalid_session', {
  'events with an expired session': {
    request: 'GET /v2/things/<victim>',
    headers: { accept: 'text/event-stream' },
  },
})
requests('nobody', '403 forbidden', {
  'bearer in lower case of another thing': {
    request: 'GET /v2/things/<victim>/resources/temperature',
    headers: { authorization: 'bearer   <own token>' },
  },
  '?session= of another thing on a stream': 'GET /v2/things/<victim>?session=<own read session>',
})
requests('nobody', '401 missing_credential', {
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
  "a loopback address of one's own making": {
    request: 'GET /v2/admin/things',
    headers: { 'x-forwarded-for': '127.0.0.1' },
  },
})
headed('nobody', 'GET /v2/things/<victim>/resources/temperature', '401 missing_credential', {
  'an empty Authorization': { authorization: '' },
  'a cookie': { cookie: 'session=<read session of victim>' },
  'an X-Api-Key': { 'x-api-key': '<read session of victim>' },
  'a Proxy-Authorization': { 'proxy-authorization': 'Bearer <read session of victim>' },
})
