import { type HttpTrick, requests } from '../trick.ts'

/** Paths that might be taken for another one than is authorised. */
export const pathTricks: readonly HttpTrick[] = [
  ...requests('nobody', '401 missing_credential', {
    'write to an id, without a credential': 'POST /v2/things/<victim>',
    'read an id, without a credential': 'GET /v2/things/<victim>/resources/temperature',
    'write to an id, percent-encoded': 'POST /v2/things/<victim percent-encoded>',
    'write behind a doubled slash': 'POST /v2/things//<victim>',
    'the operator encoded': 'GET /v2/%61dmin/things',
    'the operator between doubled slashes': 'GET /v2//admin//things',
  }),
  ...requests('own token', '403 forbidden', {
    'read an id, percent-encoded, as another thing': 'GET /v2/things/<victim percent-encoded>/resources',
    'write behind doubled slashes, as another thing': 'POST //v2//things//<victim>/',
    'read between doubled slashes, as another thing': 'GET /v2/things/<victim>//resources//temperature//',
    'the operator with a trailing slash': 'GET /v2/admin/things/',
  }),
  ...requests('read session of victim', '404 not_found', {
    'an id in upper case': 'GET /v2/things/<victim in upper case>/resources',
  }),
  ...requests('read session of all', '404 not_found', {
    'an id less its last character': 'GET /v2/things/<victim less its last>/resources',
    'an id and one character': 'GET /v2/things/<victim and a>/resources',
  }),
  ...requests('own token', '404 not_found', {
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
  }),
  ...requests('own read session', '404 not_found', {
    'every thing': 'GET /v2/things/*/resources',
  }),
  ...requests('nobody', '404 not_found', {
    'up and over': 'GET /v2/things/<own token>/../<victim>/resources',
    'up and over, dots encoded': 'GET /v2/things/<own token>/%2e%2e/<victim>/resources/temperature',
    'up and over, slashes encoded': 'GET /v2/things/<own token>%2f..%2f<victim>/resources/temperature',
    'up and over, all encoded': 'GET /v2/things/<own token>%2F%2E%2E%2F<victim>/resources',
    'up and over, encoded twice': 'GET /v2/things/<own token>%252f..%252f<victim>/resources',
    'up and over, backslashes': 'GET /v2/things/<own token>\\..\\<victim>/resources',
    'up and over, backslashes encoded': 'GET /v2/things/<own token>%5c..%5c<victim>/resources',
    'up and over from a resource':
      'GET /v2/things/<own token>/resources/../../<victim>/resources/temperature',
    'write one level down': 'POST /v2/things/<own token>/<victim>',
    'up to the operator': 'GET /v2/things/<own token>/../../admin/things',
    'the base path in upper case': 'POST /V2/things/<victim>',
    'things in upper case': 'POST /v2/THINGS/<victim>',
    'the base path left out': 'GET /things/<victim>/resources',
    'the operator in upper case': 'GET /v2/ADMIN/things',
  }),
  ...requests('nobody', '404 unknown_resource', {
    'up and over from a resource, encoded':
      'GET /v2/things/<own token>/resources/..%2f..%2f<victim>%2fresources%2ftemperature',
    'the id as a resource': 'GET /v2/things/<own token>/resources/<victim>',
    'the resource of the other': 'GET /v2/things/<own token>/resources/temperature',
    'the resource above': 'GET /v2/things/<own token>/resources/%2e%2e',
  }),
]
