import { orIfRefused, type ServerClient } from '../client/client.ts'
import { readPrincipal } from '../client/named-thing.ts'
import { counted } from '../output.ts'
import { type Finding, note, ok } from './finding.ts'

/** Reason codes (docs/reference/errors.md) with which HTTP or MQTT refuses a wrong credential. */
const reasons = [
  'unknown_thing_token',
  'invalid_session',
  'missing_credential',
  'too_many_failed_credentials',
]
/** By metric. Over MQTT, `forbidden` and `not_found` mean that a client without a credential used a topic that has no token. */
const refusals: Readonly<Record<string, readonly string[]>> = {
  http_errors: reasons,
  mqtt_broken_off: [...reasons, 'forbidden', 'not_found'],
  mqtt_connects: ['4', '5'],
}
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
  const refused = [...text.matchAll(sample)].flatMap(([, metric = '', why = '', count]) => {
    if (count === '0' || !refusals[metric]?.includes(why)) return []
    const door = metric === 'http_errors' ? 'HTTP' : 'MQTT'
    const code = metric === 'mqtt_connects' ? `CONNACK ${why}` : why
    return [`${counted(Number(count), 'time')} over ${door} (${code})`]
  })
  const check = 'credentials'
  if (refused.length === 0) return [ok(check, 'the server has refused no credential since its start')]
  const ofTopic =
    'forbidden and not_found mean that a client without a credential used a topic without a token: it must publish on things/<token>/write instead'
  const ofToken =
    'a device or a command has a wrong, revoked or missing credential, or a session in the place of a token, where the id of the thing belongs; for a device create a new token: thingwire tokens add <thing>; a device of a source needs the password that thingwire sources add <name> has printed, or a new one: thingwire sources password <name>'
  const ofWill =
    'CONNACK 5 can also mean that the server refused a will: then thingwire doctor <thing> names it, and the token is right'
  const isOfTopic = refused.map(text => /forbidden|not_found/.test(text))
  const advices = [isOfTopic.includes(true) && ofTopic, isOfTopic.includes(false) && ofToken]
  const advice = [...advices, refused.join().includes('CONNACK 5') && ofWill].filter(Boolean).join('. ')
  return [note(check, `the server has refused credentials since its start: ${refused.join(', ')}`, advice)]
}
