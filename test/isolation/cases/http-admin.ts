import { type HttpTrick, requests } from '../trick.ts'

/** The operator's paths, by who is not the operator. */
export const adminTricks: readonly HttpTrick[] = [
  ...requests('nobody', '401 missing_credential', {
    'list things without a credential': 'GET /v2/admin/things',
    'make a thing without a credential': { request: 'POST /v2/admin/things', body: {} },
    'remove another thing without a credential': 'DELETE /v2/admin/things/<victim>',
    'add a token to another thing without a credential': {
      request: 'POST /v2/admin/things/<victim>/tokens',
      body: {},
    },
    'remove a token without a credential': 'DELETE /v2/admin/things/<victim>/tokens/<victim token id>',
    'list sessions without a credential': 'GET /v2/admin/sessions',
    'make a session without a credential': {
      request: 'POST /v2/admin/sessions',
      body: { things: '*', access: 'write' },
    },
    'list codes without a credential': 'GET /v2/admin/activation-codes',
    'remove a code without a credential': 'DELETE /v2/admin/activation-codes/<fresh code>',
    'a backup without a credential': 'POST /v2/admin/backup',
    'the state of forwarding without a credential': 'GET /v2/admin/forward',
  }),
  ...requests('own token', '403 forbidden', {
    'list things as a thing': 'GET /v2/admin/things',
    'find a thing by its place': 'GET /v2/admin/things?bbox=-180,-90,180,90',
    'make a thing as a thing': { request: 'POST /v2/admin/things', body: {} },
    'rename another thing': { request: 'PATCH /v2/admin/things/<victim>', body: { name: 'mine' } },
    'remove another thing as a thing': 'DELETE /v2/admin/things/<victim>',
    'remove oneself': 'DELETE /v2/admin/things/<own>',
    'list tokens of another thing': 'GET /v2/admin/things/<victim>/tokens',
    'add a token to another thing': { request: 'POST /v2/admin/things/<victim>/tokens', body: {} },
    'add a token to oneself': { request: 'POST /v2/admin/things/<own>/tokens', body: {} },
    'remove a token of another thing': 'DELETE /v2/admin/things/<victim>/tokens/<victim token id>',
    'make a session as a thing': {
      request: 'POST /v2/admin/sessions',
      body: { things: ['<victim>'], access: 'read' },
    },
    'make a session for oneself as a thing': {
      request: 'POST /v2/admin/sessions',
      body: { things: ['<own>'], access: 'read' },
    },
    'remove a session as a thing': 'DELETE /v2/admin/sessions/<session id>',
    'list codes as a thing': 'GET /v2/admin/activation-codes',
    'remove a code as a thing': 'DELETE /v2/admin/activation-codes/<fresh code>',
    'a backup as a thing': 'POST /v2/admin/backup',
    'the state of forwarding as a thing': 'GET /v2/admin/forward',
  }),
  ...requests('read session of all', '403 forbidden', {
    'list things with a read session of all': 'GET /v2/admin/things',
  }),
  ...requests('write session of all', '403 forbidden', {
    'list things with a write session of all': 'GET /v2/admin/things',
    'make a thing with a session of all': { request: 'POST /v2/admin/things', body: {} },
    'remove a thing with a session of all': 'DELETE /v2/admin/things/<victim>',
    'list sessions with a session of all': 'GET /v2/admin/sessions',
    'make a longer session with a session': {
      request: 'POST /v2/admin/sessions',
      body: { things: '*', access: 'write', expiresIn: 1000000 },
    },
    'make codes with a session of all': { request: 'POST /v2/admin/activation-codes', body: { count: 1 } },
    'a backup with a session of all': 'POST /v2/admin/backup',
    'the state of forwarding with a session of all': 'GET /v2/admin/forward',
  }),
  ...requests('expired session', '401 invalid_session', {
    'list things with an expired session': 'GET /v2/admin/things',
  }),
  ...requests('write session of victim', '403 forbidden', {
    'rename a thing with its own write session': {
      request: 'PATCH /v2/admin/things/<victim>',
      body: { name: 'mine' },
    },
    'list tokens with a session of the thing': 'GET /v2/admin/things/<victim>/tokens',
    'remove a token with a session of the thing': 'DELETE /v2/admin/things/<victim>/tokens/<victim token id>',
  }),
  ...requests('own write session', '403 forbidden', {
    'make a wider session with a session': {
      request: 'POST /v2/admin/sessions',
      body: { things: '*', access: 'write' },
    },
    'remove a session with a session': 'DELETE /v2/admin/sessions/<session id>',
  }),
]
