import { orIfRefused, type ServerClient } from '../client/client.ts'
import { readPrincipal } from '../client/named-thing.ts'
import { counted } from '../output.ts'
import { type Finding, note, ok } from './finding.ts'

/** Reason codes (docs/reference/errors.md) with which HTTP or MQTT refuses a wrong credential. */
const credentialReasons: ReadonlySet<string> = new Set([
  'unknown_thing_token',
  'invalid_session',
  'missing_credential',
  'too_many_failed_credentials',
])
/** Return codes of CONNACK for credentials that are unknown (4) or not allowed (5) [MQTT-3.2.2.3]. */
const refusingCodes: ReadonlySet<string> = new Set(['4', '5'])
const sample =
  /^thingwire_(http_errors|mqtt_broken_off|mqtt_connects)_total\{(?:reason|return_code)="(\w+)"\} (\d+)$/gm

/** Reports how often the server has refused a credential. Such a refusal belongs to no thing, so no page of a thing shows it. */
export async function checkRefusedCredentials(client: ServerClient): Promise<Finding[]> {
  // Only the operator may read the metrics, and a refused request for them would itself count as a refused credential.
  if ((await readPrincipal(client)).kind !== 'admin') return []
  // A server inside a host program may have no metrics.
  const metrics = await orIfRefused(client.open('/metrics'), 404, undefined)
  if (metrics === undefined) return []
  const text = await metrics.text()
  const refused = [...text.matchAll(sample)].flatMap(([, metric, why = '', count]) => {
    const isConnect = metric === 'mqtt_connects'
    const isElsewhere = metric === 'mqtt_broken_off' && why === 'forbidden'
    if (count === '0' || !(isElsewhere || (isConnect ? refusingCodes : credentialReasons).has(why))) return []
    const door = metric === 'http_errors' ? 'HTTP' : 'MQTT'
    return [`${counted(Number(count), 'time')} over ${door} (${isConnect ? `CONNACK ${why}` : why})`]
  })
  const check = 'credentials'
  if (refused.length === 0) return [ok(check, 'the server has refused no credential since its start')]
  // The server also sends CONNACK 5 if it refuses the will, so the credential may be right.
  const isWill = refused.some(text => text.includes('CONNACK 5'))
  // A client without a credential is closed when it publishes on a topic that has no token.
  const isElsewhere = refused.some(text => text.includes('(forbidden)'))
  const ofTopic =
    '. forbidden means that a client without a credential used a topic of its own: it must publish on things/<token>/write instead'
  const ofWill =
    '. CONNACK 5 can also mean that the server refused a will: then thingwire doctor <thing> names it, and the token is right'
  const advice = `a device or a command has a wrong, revoked or missing credential, or a session in the place of a token, where the id of the thing belongs; for a device create a new token: thingwire tokens add <thing>${isWill ? ofWill : ''}${isElsewhere ? ofTopic : ''}`
  return [note(check, `the server has refused credentials since its start: ${refused.join(', ')}`, advice)]
}
