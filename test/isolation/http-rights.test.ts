import { httpTables } from './http-tricks.ts'
import { isolationTests } from './world.ts'

const { requests, headed } = httpTables(isolationTests())

/** Paths that might be taken for another one than is authorised. */
requests('nobody', '401 missing_credential', {
  'write to an id, without a credential': 'POST /v2/things/<victim>',
  'write to an id in a format, without a credential': 'POST /v2/things/<victim>/write/value/forged',
  'read an id, without a credential': 'GET /v2/things/<victim>/resources/temperature',
  'write to an id, percent-encoded': 'POST /v2/things/<victim percent-encoded>',
  'write behind a doubled slash': 'POST /v2/things//<victim>',
  'the operator encoded': 'GET /v2/%61dmin/things',
  'the operator between doubled slashes': 'GET /v2//admin//things',
})
requests('own token', '403 forbidden', {
  'read an id, percent-encoded, as another thing': 'GET /v2/things/<victim percent-encoded>/resources',
  'write behind doubled slashes, as another thing': 'POST //v2//things//<victim>/',
  'read between doubled slashes, as another thing': 'GET /v2/things/<victim>//resources//temperature//',
  'the operator with a trailing slash': 'GET /v2/admin/things/',
})
requests('read session of victim', '404 not_found', {
  'an id in upper case': 'GET /v2/things/<victim in upper case>/resources',
})
requests('read session of all', '404 not_found', {
  'an id less its last character': 'GET /v2/things/<victim less its last>/resources',
  'an id and one character': 'GET /v2/things/<victim and a>/resources',
})
requests('own token', '404 not_found', {
  'an id and NUL': 'GET /v2/things/<victim>%00/resources',
  'an id and a blank': 'GET /v2/things/<victim>%20/resources',
  'an id and a matrix parameter': 'GET /v2/things/<victim>;as=<own>/resources',
  'an id and a fragment': 'GET /v2/things/<victim>%23<own>/resources',
  'an id and an encoded question mark': 'GET /v2/things/<victim>%3f<own>/resources',
  'two ids': 'GET /v2/things/<own>,<victim>/resources',
  'a wildcard': 'GET /v2/things/+/resources',
  'up and over, as the thing': 'GET /v2/things/<own>/../<victim>/resources',
  'up to the operator, encoded': 'GET /v2/things/..%2fadmin%2fthings',
  'the operator and a slash encoded': 'GET /v2/admin%2fthings',
  'the operator behind a dot': 'GET /v2/./admin/things',
})
requests('own read session', '404 not_found', {
  'every thing': 'GET /v2/things/*/resources',
})
requests('nobody', '404 not_found', {
  'up and over': 'GET /v2/things/<own token>/../<victim>/resources',
  'up and over, dots encoded': 'GET /v2/things/<own token>/%2e%2e/<victim>/resources/temperature',
  'up and over, slashes encoded': 'GET /v2/things/<own token>%2f..%2f<victim>/resources/temperature',
  'up and over, all encoded': 'GET /v2/things/<own token>%2F%2E%2E%2F<victim>/resources',
  'up and over, encoded twice': 'GET /v2/things/<own token>%252f..%252f<victim>/resources',
  'up and over, backslashes': 'GET /v2/things/<own token>\\..\\<victim>/resources',
  'up and over, backslashes encoded': 'GET /v2/things/<own token>%5c..%5c<victim>/resources',
  'up and over from a resource': 'GET /v2/things/<own token>/resources/../../<victim>/resources/temperature',
  'write one level down': 'POST /v2/things/<own token>/<victim>',
  'up to the operator': 'GET /v2/things/<own token>/../../admin/things',
  'the base path in upper case': 'POST /V2/things/<victim>',
  'things in upper case': 'POST /v2/THINGS/<victim>',
  'the base path left out': 'GET /things/<victim>/resources',
  'the operator in upper case': 'GET /v2/ADMIN/things',
})
requests('nobody', '404 unknown_resource', {
  'up and over from a resource, encoded':
    'GET /v2/things/<own token>/resources/..%2f..%2f<victim>%2fresources%2ftemperature',
  'the id as a resource': 'GET /v2/things/<own token>/resources/<victim>',
  'the resource of the other': 'GET /v2/things/<own token>/resources/temperature',
  'the resource above': 'GET /v2/things/<own token>/resources/%2e%2e',
})

/** Valid credentials that do not go so far. */
requests('own token', '403 forbidden', {
  'write to another thing': 'POST /v2/things/<victim>',
  'write to another thing in a format': 'POST /v2/things/<victim>/write/json',
  'write to another thing, kept from all': 'POST /v2/things/<victim>?store=false',
  'write to another thing, a dry run': 'POST /v2/things/<victim>?store=false&broadcast=false',
  'names of another thing': 'GET /v2/things/<victim>/resources',
  'position of another thing': 'GET /v2/things/<victim>/resources/$geo',
  'intervals of another thing': 'GET /v2/things/<victim>/resources/temperature?aggregate=count&interval=1h',
  'intervals of several keys of another thing':
    'GET /v2/things/<victim>/aggregates?keys=temperature&aggregate=count&interval=1h',
  'refused writes of another thing': 'GET /v2/things/<victim>/errors',
  'stream of another thing': 'GET /v2/things/<victim>',
  'head of a stream of another thing': 'HEAD /v2/things/<victim>',
  'deletion at another thing': 'DELETE /v2/things/<victim>/resources/temperature',
  'a key that another thing does not have': 'GET /v2/things/<victim>/resources/nothing',
  'mint for another thing': 'POST /v2/things/<victim>/sessions {"access": "write"}',
  'a thing deletes its own by its id': 'DELETE /v2/things/<own>/resources/forged',
})
headed('own token', 'GET /v2/things/<victim>/resources/temperature', '403 forbidden', {
  'export of another thing': { accept: 'text/csv' },
  'lines of another thing': { accept: 'application/x-ndjson' },
})
requests('own write session', '403 forbidden', {
  'write to another thing in a format with a session': 'POST /v2/things/<victim>/write/value/forged',
  'write to another thing with a session': 'POST /v2/things/<victim>',
  'settings of another thing': 'GET /v2/things/<victim>/resources/$settings.owner',
  'deletion at another thing with a session': 'DELETE /v2/things/<victim>/resources/temperature',
  'mint for another thing with a session': 'POST /v2/things/<victim>/sessions {"access": "write"}',
  'a thing deletes with a session of worth beside its token':
    'DELETE /v2/things/<own token>/resources/forged',
})
requests('own minted write session', '403 forbidden', {
  'write to another thing with a minted session': 'POST /v2/things/<victim>',
})
requests('own read session', '403 forbidden', {
  'all resources of another thing': 'GET /v2/things/<victim>/all_resources?limit=10',
  'events of another thing': {
    request: 'GET /v2/things/<victim>',
    headers: { accept: 'text/event-stream' },
  },
})
requests('nobody', '401 missing_credential', {
  'mint without a credential': 'POST /v2/things/<victim>/sessions {"access": "write"}',
})
requests('read session of victim', '403 forbidden', {
  'a read session writes': 'POST /v2/things/<victim>',
  'a read session writes in a format': 'POST /v2/things/<victim>/write/value/forged',
  'a read session tries a dry run': 'POST /v2/things/<victim>?store=false&broadcast=false',
  'a read session deletes': 'DELETE /v2/things/<victim>/resources/temperature',
  'a read session lists refused writes': 'GET /v2/things/<victim>/errors',
  'a read session mints': 'POST /v2/things/<victim>/sessions {"access": "write"}',
})
requests('minted read session of victim', '403 forbidden', {
  'a minted read session writes': 'POST /v2/things/<victim>',
  'a minted read session deletes': 'DELETE /v2/things/<victim>/resources/temperature',
  'a minted read session lists refused writes': 'GET /v2/things/<victim>/errors',
  'a minted read session mints': 'POST /v2/things/<victim>/sessions {"access": "read"}',
})
requests('read session of all', '403 forbidden', {
  'a read session of all writes': 'POST /v2/things/<victim>',
  'a read session of all deletes': 'DELETE /v2/things/<victim>/resources/temperature',
  'a read session of all lists refused writes': 'GET /v2/things/<victim>/errors',
})
requests('write session of victim', '403 forbidden', {
  'a write session mints': 'POST /v2/things/<victim>/sessions {"access": "write"}',
})
requests('minted write session of victim', '403 forbidden', {
  'a minted write session mints': 'POST /v2/things/<victim>/sessions {"access": "write"}',
  'a minted write session deletes': 'DELETE /v2/things/<victim>/resources/temperature',
})
requests('write session of all', '403 forbidden', {
  'a write session of all mints': 'POST /v2/things/<victim>/sessions {"access": "write"}',
})
requests('nobody', '403 forbidden', {
  'a thing deletes its own': 'DELETE /v2/things/<own token>/resources/forged',
})
requests('nobody', 201, {
  'another thing in the body': {
    request: 'POST /v2/things/<own token>',
    body: {
      thingId: '<victim>',
      id: 'w1',
      values: [{ key: 'forged', value: 'in the body', thingId: '<victim>' }],
    },
  },
  'another thing in the query': 'POST /v2/things/<own token>?ref=<victim>&thingId=<victim>',
})
requests('write session of victim', 201, {
  'another thing as credential beside a token': 'POST /v2/things/<own token>',
})
requests('nobody', 200, {
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
})
requests('nobody', '400 invalid_key', {
  'another thing in a key':
    'POST /v2/things/<own token> {"values": [{"key": "../<victim>/temperature", "value": 1}]}',
})
requests('nobody', '400 forbidden_member', {
  'another thing in a settings path':
    'POST /v2/things/<own token> {"values": [{"key": "$settings.__proto__.things", "value": "<victim>"}]}',
})

/** The operator's paths, by who is not the operator. */
requests('nobody', '401 missing_credential', {
  'list things without a credential': 'GET /v2/admin/things',
  'make a thing without a credential': 'POST /v2/admin/things {}',
  'remove another thing without a credential': 'DELETE /v2/admin/things/<victim>',
  'add a token to another thing without a credential': 'POST /v2/admin/things/<victim>/tokens {}',
  'remove a token without a credential': 'DELETE /v2/admin/things/<victim>/tokens/<victim token id>',
  'list sessions without a credential': 'GET /v2/admin/sessions',
  'make a session without a credential': 'POST /v2/admin/sessions {"things": "*", "access": "write"}',
  'list codes without a credential': 'GET /v2/admin/activation-codes',
  'remove a code without a credential': 'DELETE /v2/admin/activation-codes/<fresh code>',
  'a backup without a credential': 'POST /v2/admin/backup',
  'the state of forwarding without a credential': 'GET /v2/admin/forward',
})
requests('own token', '403 forbidden', {
  'list things as a thing': 'GET /v2/admin/things',
  'find a thing by its place': 'GET /v2/admin/things?bbox=-180,-90,180,90',
  'make a thing as a thing': 'POST /v2/admin/things {}',
  'rename another thing': 'PATCH /v2/admin/things/<victim> {"name": "mine"}',
  'remove another thing as a thing': 'DELETE /v2/admin/things/<victim>',
  'remove oneself': 'DELETE /v2/admin/things/<own>',
  'list tokens of another thing': 'GET /v2/admin/things/<victim>/tokens',
  'add a token to another thing': 'POST /v2/admin/things/<victim>/tokens {}',
  'add a token to oneself': 'POST /v2/admin/things/<own>/tokens {}',
  'remove a token of another thing': 'DELETE /v2/admin/things/<victim>/tokens/<victim token id>',
  'make a session as a thing': 'POST /v2/admin/sessions {"things": ["<victim>"], "access": "read"}',
  'make a session for oneself as a thing': 'POST /v2/admin/sessions {"things": ["<own>"], "access": "read"}',
  'remove a session as a thing': 'DELETE /v2/admin/sessions/<session id>',
  'list codes as a thing': 'GET /v2/admin/activation-codes',
  'remove a code as a thing': 'DELETE /v2/admin/activation-codes/<fresh code>',
  'a backup as a thing': 'POST /v2/admin/backup',
  'the state of forwarding as a thing': 'GET /v2/admin/forward',
})
requests('read session of all', '403 forbidden', {
  'list things with a read session of all': 'GET /v2/admin/things',
})
requests('write session of all', '403 forbidden', {
  'list things with a write session of all': 'GET /v2/admin/things',
  'make a thing with a session of all': 'POST /v2/admin/things {}',
  'remove a thing with a session of all': 'DELETE /v2/admin/things/<victim>',
  'list sessions with a session of all': 'GET /v2/admin/sessions',
  'make a longer session with a session':
    'POST /v2/admin/sessions {"things": "*", "access": "write", "expiresIn": 1000000}',
  'make codes with a session of all': 'POST /v2/admin/activation-codes {"count": 1}',
  'a backup with a session of all': 'POST /v2/admin/backup',
  'the state of forwarding with a session of all': 'GET /v2/admin/forward',
})
requests('expired session', '401 invalid_session', {
  'list things with an expired session': 'GET /v2/admin/things',
})
requests('write session of victim', '403 forbidden', {
  'rename a thing with its own write session': 'PATCH /v2/admin/things/<victim> {"name": "mine"}',
  'list tokens with a session of the thing': 'GET /v2/admin/things/<victim>/tokens',
  'remove a token with a session of the thing': 'DELETE /v2/admin/things/<victim>/tokens/<victim token id>',
})
requests('own write session', '403 forbidden', {
  'make a wider session with a session': 'POST /v2/admin/sessions {"things": "*", "access": "write"}',
  'remove a session with a session': 'DELETE /v2/admin/sessions/<session id>',
})

/** A source, which has rights to its topics alone. */
requests('source token', '403 forbidden', {
  'write to a thing as a source': 'POST /v2/things/<victim>',
  'names of a thing as a source': 'GET /v2/things/<victim>/resources',
  'records of a thing as a source': 'GET /v2/things/<victim>/resources/temperature',
  'every record of a thing as a source': 'GET /v2/things/<victim>/all_resources',
  'a stream of a thing as a source': 'GET /v2/things/<victim>',
  'refused writes of a thing as a source': 'GET /v2/things/<victim>/errors',
  'remove records as a source': 'DELETE /v2/things/<victim>/resources/temperature',
  'mint a session as a source': 'POST /v2/things/<victim>/sessions {"access": "read"}',
  'a source as a thing': 'GET /v2/things/<own source>/errors',
  'list things as a source': 'GET /v2/admin/things',
  'make a thing as a source': 'POST /v2/admin/things {}',
  'attach another thing':
    'PATCH /v2/admin/things/<victim> {"source": {"sourceId": "<own source>", "device": "x"}}',
  'list sources as a source': 'GET /v2/admin/sources',
  'show oneself as a source': 'GET /v2/admin/sources/<own source>',
  'widen oneself as a source': 'PATCH /v2/admin/sources/<own source> {"topics": ["#"], "overlap": true}',
  'remove another source': 'DELETE /v2/admin/sources/<victim source>',
  'a new token for oneself as a source': 'POST /v2/admin/sources/<own source>/token',
  'a new token for another source': 'POST /v2/admin/sources/<victim source>/token',
  'what another source could not read': 'GET /v2/admin/sources/<victim source>/errors',
  'make a session as a source': 'POST /v2/admin/sessions {"things": "*", "access": "write"}',
  'a backup as a source': 'POST /v2/admin/backup',
})
requests('nobody', '401 unknown_thing_token', {
  'a source token in the place of a thing token': 'GET /v2/things/<source token>/resources',
  'write with a source token in the path': 'POST /v2/things/<source token>',
})
requests('removed source token', '401 invalid_session', {
  'a removed source': 'GET /v2/principal',
})
requests('own token', '403 forbidden', {
  'make a source as a thing': 'POST /v2/admin/sources {"name": "mine"}',
  'list sources as a thing': 'GET /v2/admin/sources',
  'widen a source as a thing': 'PATCH /v2/admin/sources/<own source> {"topics": ["#"]}',
})
requests('write session of all', '403 forbidden', {
  'make a source with a session of all': 'POST /v2/admin/sources {"name": "mine"}',
  'remove a source with a session of all': 'DELETE /v2/admin/sources/<victim source>',
  'a new token for a source with a session of all': 'POST /v2/admin/sources/<victim source>/token',
})
