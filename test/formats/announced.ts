import type { SampleMessage } from './samples.ts'

export const plug = { identifiers: ['plug'], name: 'Plug' }
export const pulse = {
  state_topic: 'plug/state',
  value_template: '{{ value_json.power }}',
  unit_of_measurement: 'W',
  device: plug,
}

/** A message for each config, each on the topic of an entity, and one for each payload on a state topic. */
export const announced = (
  configs: Readonly<Record<string, SampleMessage['payload']>>,
  states: Readonly<Record<string, SampleMessage['payload']>> = {},
): readonly SampleMessage[] => [
  ...Object.entries(configs).map(([entity, payload]) => ({
    topic: `homeassistant/${entity}/config`,
    payload,
  })),
  ...Object.entries(states).map(([topic, payload]) => ({ topic, payload })),
]
