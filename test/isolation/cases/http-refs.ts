import { type HttpTrick, requests } from '../trick.ts'

/** Something else where a token belongs, which is enough on a thing's path. */
export const refTricks: readonly HttpTrick[] = [
  ...requests('nobody', '401 unknown_thing_token', {
    'a token in upper case': 'POST /v2/things/<victim token in upper case>',
    'a token in lower case': 'POST /v2/things/<victim token in lower case>',
    'a token that decodes to the same bytes': 'POST /v2/things/<victim token with another end>',
    'a token backwards': 'POST /v2/things/<victim token backwards>',
    'the hash of a token': 'POST /v2/things/<hash of victim token>',
    'an unknown token': 'POST /v2/things/<unknown token>',
    'a read session as token': 'GET /v2/things/<read session of victim>/resources',
    'a write session as token': 'POST /v2/things/<write session of victim>',
    'a minted session as token': 'POST /v2/things/<minted write session of victim>',
    'mint a session with a session as token': {
      request: 'POST /v2/things/<write session of victim>/sessions',
      body: { access: 'read' },
    },
    'the hash of the admin key as token': 'GET /v2/things/<hash of admin key>/resources',
    'write with a revoked token': 'POST /v2/things/<revoked token>',
    'read with a revoked token': 'GET /v2/things/<revoked token>/resources',
    'stream with a revoked token': 'GET /v2/things/<revoked token>',
    'mint a session with a revoked token': {
      request: 'POST /v2/things/<revoked token>/sessions',
      body: { access: 'write' },
    },
    'write with the token of a removed thing': 'POST /v2/things/<token of removed>',
    'read with the token of a removed thing': 'GET /v2/things/<token of removed>/all_resources',
    'the date for an id': 'GET /v2/utils/date?thingToken=<victim>',
    'the date for a session': 'GET /v2/utils/date?thingToken=<read session of victim>',
    'the date for a revoked token': 'GET /v2/utils/date?thingToken=<revoked token>',
    'the date for the token of a removed thing': 'GET /v2/utils/date?thingToken=<token of removed>',
    'the date for a token and one character': 'GET /v2/utils/date?thingToken=<victim token and A>',
  }),
  ...requests('nobody', '404 not_found', {
    'a token less its last character': 'POST /v2/things/<victim token less its last>',
    'a token and one character': 'POST /v2/things/<victim token and A>',
    'a token and padding': 'POST /v2/things/<victim token and =>',
    'a token id as token': 'GET /v2/things/<victim token id>/resources',
    'a session id as token': 'GET /v2/things/<session id>/resources',
    'an activation code as token': 'POST /v2/things/<fresh code>',
  }),
  ...requests('own token', '404 not_found', {
    'a prefix of a token, as another thing': 'GET /v2/things/<victim token less its last>/resources',
  }),
  ...requests('write session of all', '401 unknown_thing_token', {
    'an unknown token, with a credential of worth': 'GET /v2/things/<unknown token>/resources',
    'a session as token, and as credential': 'POST /v2/things/<write session of all>',
  }),
  ...requests('own token', '401 unknown_thing_token', {
    'a revoked token, with a valid one as credential': 'POST /v2/things/<revoked token>',
  }),
  ...requests('read session of all', '404 unknown_thing', {
    'a removed thing by its id': 'GET /v2/things/<removed>/resources',
  }),
  ...requests('write session of all', '404 unknown_thing', {
    'a thing that never was': 'POST /v2/things/<unknown id>',
  }),
  ...requests('nobody', '400 missing_thing_token', {
    'the date without a token': 'GET /v2/utils/date',
  }),
  ...requests('own token', '400 missing_thing_token', {
    'the date with the token in a header': 'GET /v2/utils/date',
  }),
  ...requests('nobody', '401 unknown_activation_code', {
    'a spent code': { request: 'POST /v2/things', body: { activationCode: '<spent code>' } },
    'a removed code': { request: 'POST /v2/things', body: { activationCode: '<removed code>' } },
    'a guessed code': { request: 'POST /v2/things', body: { activationCode: '<guessed code>' } },
    'a code in upper case': {
      request: 'POST /v2/things',
      body: { activationCode: '<fresh code in upper case>' },
    },
    'a code less its last character': {
      request: 'POST /v2/things',
      body: { activationCode: '<fresh code less its last>' },
    },
    'the victim as code': { request: 'POST /v2/things', body: { activationCode: '<victim>' } },
    'a token as code': { request: 'POST /v2/things', body: { activationCode: '<own token>' } },
  }),
  ...requests('nobody', '400 invalid_body', {
    'no code, but a thing': { request: 'POST /v2/things', body: { thingId: '<victim>' } },
    'a list of codes': { request: 'POST /v2/things', body: { activationCode: ['<fresh code>'] } },
  }),
]
