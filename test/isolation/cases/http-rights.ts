import { type HttpTrick, requests } from '../trick.ts'

/** Valid credentials that do not go so far. */
export const rightTricks: readonly HttpTrick[] = [
  ...requests('own token', '403 forbidden', {
    'write to another thing': 'POST /v2/things/<victim>',
    'write to another thing, kept from all': 'POST /v2/things/<victim>?store=false',
    'write to another thing, a dry run': 'POST /v2/things/<victim>?store=false&broadcast=false',
    'names of another thing': 'GET /v2/things/<victim>/resources',
    'position of another thing': 'GET /v2/things/<victim>/resources/$geo',
    'export of another thing': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { accept: 'text/csv' },
    },
    'lines of another thing': {
      request: 'GET /v2/things/<victim>/resources/temperature',
      headers: { accept: 'application/x-ndjson' },
    },
    'intervals of another thing': 'GET /v2/things/<victim>/resources/temperature?aggregate=count&interval=1h',
    'intervals of several keys of another thing':
      'GET /v2/things/<victim>/aggregates?keys=temperature&aggregate=count&interval=1h',
    'refused writes of another thing': 'GET /v2/things/<victim>/errors',
    'stream of another thing': 'GET /v2/things/<victim>',
    'head of a stream of another thing': 'HEAD /v2/things/<victim>',
    'deletion at another thing': 'DELETE /v2/things/<victim>/resources/temperature',
    'a key that another thing does not have': 'GET /v2/things/<victim>/resources/nothing',
    'mint for another thing': { request: 'POST /v2/things/<victim>/sessions', body: { access: 'write' } },
    'a thing deletes its own by its id': 'DELETE /v2/things/<own>/resources/forged',
  }),
  ...requests('own write session', '403 forbidden', {
    'write to another thing with a session': 'POST /v2/things/<victim>',
    'settings of another thing': 'GET /v2/things/<victim>/resources/$settings.owner',
    'deletion at another thing with a session': 'DELETE /v2/things/<victim>/resources/temperature',
    'mint for another thing with a session': {
      request: 'POST /v2/things/<victim>/sessions',
      body: { access: 'write' },
    },
    'a thing deletes with a session of worth beside its token':
      'DELETE /v2/things/<own token>/resources/forged',
  }),
  ...requests('own minted write session', '403 forbidden', {
    'write to another thing with a minted session': 'POST /v2/things/<victim>',
  }),
  ...requests('own read session', '403 forbidden', {
    'all resources of another thing': 'GET /v2/things/<victim>/all_resources?limit=10',
    'events of another thing': {
      request: 'GET /v2/things/<victim>',
      headers: { accept: 'text/event-stream' },
    },
  }),
  ...requests('nobody', '401 missing_credential', {
    'mint without a credential': { request: 'POST /v2/things/<victim>/sessions', body: { access: 'write' } },
  }),
  ...requests('read session of victim', '403 forbidden', {
    'a read session writes': 'POST /v2/things/<victim>',
    'a read session tries a dry run': 'POST /v2/things/<victim>?store=false&broadcast=false',
    'a read session deletes': 'DELETE /v2/things/<victim>/resources/temperature',
    'a read session lists refused writes': 'GET /v2/things/<victim>/errors',
    'a read session mints': { request: 'POST /v2/things/<victim>/sessions', body: { access: 'write' } },
  }),
  ...requests('minted read session of victim', '403 forbidden', {
    'a minted read session writes': 'POST /v2/things/<victim>',
    'a minted read session deletes': 'DELETE /v2/things/<victim>/resources/temperature',
    'a minted read session lists refused writes': 'GET /v2/things/<victim>/errors',
    'a minted read session mints': { request: 'POST /v2/things/<victim>/sessions', body: { access: 'read' } },
  }),
  ...requests('read session of all', '403 forbidden', {
    'a read session of all writes': 'POST /v2/things/<victim>',
    'a read session of all deletes': 'DELETE /v2/things/<victim>/resources/temperature',
    'a read session of all lists refused writes': 'GET /v2/things/<victim>/errors',
  }),
  ...requests('write session of victim', '403 forbidden', {
    'a write session mints': { request: 'POST /v2/things/<victim>/sessions', body: { access: 'write' } },
  }),
  ...requests('minted write session of victim', '403 forbidden', {
    'a minted write session mints': {
      request: 'POST /v2/things/<victim>/sessions',
      body: { access: 'write' },
    },
    'a minted write session deletes': 'DELETE /v2/things/<victim>/resources/temperature',
  }),
  ...requests('write session of all', '403 forbidden', {
    'a write session of all mints': {
      request: 'POST /v2/things/<victim>/sessions',
      body: { access: 'write' },
    },
  }),
  ...requests('nobody', '403 forbidden', {
    'a thing deletes its own': 'DELETE /v2/things/<own token>/resources/forged',
  }),
  ...requests('nobody', 201, {
    'another thing in the body': {
      request: 'POST /v2/things/<own token>',
      body: {
        thingId: '<victim>',
        id: 'w1',
        values: [{ key: 'forged', value: 'in the body', thingId: '<victim>' }],
      },
    },
    'another thing in the query': 'POST /v2/things/<own token>?ref=<victim>&thingId=<victim>',
  }),
  ...requests('write session of victim', 201, {
    'another thing as credential beside a token': 'POST /v2/things/<own token>',
  }),
  ...requests('nobody', 200, {
    'another path in X-Original-URL': {
      request: 'GET /v2/things/<own token>/resources',
      headers: {
        'x-original-url': '/v2/things/<victim>/resources/temperature',
        'x-rewrite-url': '/v2/things/<victim>/resources/temperature',
      },
    },
    'another method in X-HTTP-Method-Override': {
      request: 'GET /v2/things/<own token>/resources/forged',
      headers: { 'x-http-method-override': 'DELETE' },
    },
  }),
  ...requests('nobody', '400 invalid_key', {
    'another thing in a key': {
      request: 'POST /v2/things/<own token>',
      body: { values: [{ key: '../<victim>/temperature', value: 1 }] },
    },
  }),
  ...requests('nobody', '400 forbidden_member', {
    'another thing in a settings path': {
      request: 'POST /v2/things/<own token>',
      body: { values: [{ key: '$settings.__proto__.things', value: '<victim>' }] },
    },
  }),
]
